import { describe, expect, it } from "vitest";
import { GatewayError } from "../../gateway/errors.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Blocked } from "../../objects/reconcile-error.ts";
import { attributeToSecrets } from "./refused-secrets.ts";

const refusal = new GatewayError({
  kind: "refused",
  status: 400,
  method: "PATCH",
  route: "/",
  problem: "refused",
  serviceMessage: "bad key",
});
const refused = new Blocked("InvalidSpec", "Correct the spec", { cause: refusal });

const objectWith = (status: "True" | "False", observedGeneration = 2): ManagedObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: "EventDestination",
  metadata: { name: "a", namespace: "n", uid: "u", generation: 2 },
  spec: {},
  status: {
    conditions: [{ type: "Ready", status, reason: "r", message: "m", observedGeneration, lastTransitionTime: "" }],
  },
});

const ready = objectWith("True");
const newSecrets = ["one", "two"];

describe("a refused request", () => {
  it("with new values of Secrets, for a spec that was accepted before, names the Secrets", () => {
    const error = attributeToSecrets({ object: ready, state: { next: {}, newSecrets } }, refused);
    expect(error).toMatchObject({
      reason: "SecretNotReady",
      message: 'Correct Secret "one" and Secret "two": the service refused the new content: bad key',
      cause: refusal,
    });
  });

  const quota = new Blocked("QuotaExceeded", "Delete something", { cause: refusal });
  it.each([
    ["no value of a Secret is new", ready, [], refused],
    ["the Secrets were not read", ready, undefined, refused],
    ["the object was not ready", objectWith("False"), newSecrets, refused],
    ["the spec was edited", objectWith("True", 1), newSecrets, refused],
    ["the reason is another", ready, newSecrets, quota],
    ["the service was not asked", ready, newSecrets, new Blocked("InvalidSpec", "no", { cause: new Error() })],
  ])("is reported as it is when %s", (_, object, secrets, error) => {
    expect(attributeToSecrets({ object, state: { next: {}, ...(secrets && { newSecrets: secrets }) } }, error)).toBe(
      error,
    );
  });
});
