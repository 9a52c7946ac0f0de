import { beforeEach, describe, expect, it } from "vitest";
import { CertificateAuthority } from "../kinds/certificate-authority.ts";
import { EventDestination } from "../kinds/event-destination.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import { keyPair } from "./testing/key-pairs.ts";
import { RESYNC_SECONDS, Scene } from "./testing/scene.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const resync = { requeueAfterSeconds: RESYNC_SECONDS };
const target = { monitoring: { apiKeyRef: { name: "dd", key: "api" } } };
const caPemFrom = { configMapKeyRef: { name: "ca", key: "pem" } };

describe("a settled object", () => {
  it.each([
    ["whose inputs are all watched is not due", IPPolicy, {}, {}],
    ["with a Secret is due at the next resync", EventDestination, { target }, resync],
    ["with a ConfigMap is due at the next resync", CertificateAuthority, { caPemFrom }, resync],
  ])("%s", async (_, kind, spec, expected) => {
    scene.cluster.setSecret("dd", { api: "key" });
    scene.cluster.setConfigMap("ca", { pem: keyPair("first")["tls.crt"] });
    expect(await scene.reconcile(await scene.given(kind, "one", spec))).toEqual(expected);
  });

  it("that only observes reads no Secret, and is not due for one", async () => {
    const { id } = scene.gateway.seed(EventDestination.resource, { target: { monitoring: {} } });
    const spec = { managementPolicy: "ObserveOnly", adopt: { id }, target } as const;
    expect(await scene.reconcile(await scene.given(EventDestination, "one", spec))).toEqual({});
    expect(scene.cluster.secretReads).toEqual([]);
  });
});

describe("an object that the service refuses is due again", () => {
  it.each([
    ["when it is tried again, if its spec refers to nothing", IPPolicy, {}, 1800],
    ["at the next resync, if a person may correct a ConfigMap", CertificateAuthority, { caPemFrom }, RESYNC_SECONDS],
  ])("%s", async (_, kind, spec, requeueAfterSeconds) => {
    scene.cluster.setConfigMap("ca", { pem: keyPair("first")["tls.crt"] });
    scene.gateway.refuse("create", 400);
    expect(await scene.reconcile(scene.cluster.apply(kind, "one", spec))).toEqual({ requeueAfterSeconds });
  });
});

it.each([
  [1, 1],
  [40, 10],
  [3600, 30],
])("a Secret that is missing for %i seconds is looked for again after %i", async (missing, requeueAfterSeconds) => {
  const object = await scene.apply(EventDestination, "one", { target });
  await scene.clock.advance(missing * 1000);
  expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: expect.closeTo(requeueAfterSeconds, 1) });
});
