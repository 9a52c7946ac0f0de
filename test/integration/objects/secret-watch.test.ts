import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { conditionOf, manifest } from "../../../tools/shared/objects.ts";
import { selfSigned } from "../../../tools/simulator/certificates/self-signed.ts";
import { ClusterGate, type ProxiedRequest } from "../../support/gate.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

// nothing but the watch tells of a Secret: the next look is an hour away
const world = useWorld({ startOperator: false, env: { RESYNC_INTERVAL: "1h" } });

let gate: ClusterGate;
/** Lists and watches of Secrets that the operator has asked for. */
const follows: ProxiedRequest[] = [];

beforeAll(async () => {
  gate = await ClusterGate.beforeCluster(world.cluster.kubeconfig);
  gate.guard = (passage, side) => {
    if (side === "before" && passage.method === "GET" && /\/secrets(\?|$)/.test(passage.path)) follows.push(passage);
    return undefined;
  };
});

afterAll(async () => {
  await gate.close();
});

const start = (env: Record<string, string>) => world.startOperator(env, { kubeconfig: gate.kubeconfig });

const destination = (name: string, secretName = name, key = "token") =>
  manifest("EventDestination", name, {
    target: { monitoring: { apiKeyRef: { name: secretName, key }, service: "s" } },
  });

/** A few seconds, so that a loaded machine is late and an interval is not mistaken for a watch. */
const soon = <T>(what: string, ask: () => Promise<T | undefined | false>) => world.until(what, ask, 20);

const sent = (id: string, after = 0): string[] =>
  world.simulator.control
    .requests({ after })
    .filter(({ method, path }) => method !== "GET" && path.includes(id))
    .map(({ body }) => JSON.stringify(body));

const passes = () => world.operator.metric("controller_runtime_reconcile_total");

function certificate() {
  const { certificatePem, privateKeyPem } = selfSigned({ commonName: "example.org", dnsNames: ["example.org"] });
  return { "tls.crt": certificatePem, "tls.key": privateKeyPem };
}

test("without it, Secrets are neither listed nor watched", async () => {
  await start({});
  await world.kube.apply(secret("plain", { token: "first" }), destination("plain"));
  await world.ready("EventDestination", "plain");
  expect(follows).toEqual([]);
  await world.operator.stop();
});

describe("with it", () => {
  beforeAll(async () => {
    await start({ WATCH_SECRETS: "true" });
  });

  test("metadata alone is asked for, in the watched namespace", async () => {
    expect(follows.length).toBeGreaterThan(0);
    for (const { path, headers } of follows) {
      expect(path).toContain(`/namespaces/${world.namespace}/secrets`);
      expect(headers.accept).toMatch(/^application\/json;as=PartialObjectMetadata/);
    }
  });

  test("a new value is sent at once", async () => {
    const { status } = await world.ready("EventDestination", "plain");
    await world.kube.apply(secret("plain", { token: "second" }));
    await soon("it is sent", async () => sent(status.id).some((body) => body.includes("second")));
  });

  test("a Secret and the key that is taken from it change together, and the new value is sent", async () => {
    await world.kube.apply(secret("moving", { at0: "value 0" }), destination("moving", "moving", "at0"));
    const { status } = await world.ready("EventDestination", "moving");
    for (const count of [1, 2, 3, 4, 5]) {
      const key = `at${count}`;
      // the old key stays, so that a look before the edit of the object succeeds with the new Secret
      await world.kube.apply(secret("moving", { [`at${count - 1}`]: "revoked", [key]: `value ${count}` }));
      await world.kube.apply(destination("moving", "moving", key));
      const last = async () => sent(status.id).at(-1)?.includes(`value ${count}`);
      await soon(`value ${count} is sent last`, last);
    }
  });

  test("a renewed certificate replaces the one before", async () => {
    await world.kube.apply(secret("site", certificate()), manifest("TLSCertificate", "site", { secretName: "site" }));
    const { status } = await world.ready("TLSCertificate", "site");
    await world.kube.apply(secret("site", certificate()));
    await soon("it is another", async () => (await world.ready("TLSCertificate", "site")).status.id !== status.id);
  });

  test("an object goes on as soon as its Secret is there", async () => {
    await world.kube.apply(destination("early", "late"));
    await world.condition("EventDestination", "early", { type: "Ready", reason: "SecretNotReady" });
    await world.kube.apply(secret("late", { token: "here" }));
    await world.ready("EventDestination", "early");
  });

  test("one that lost its Secret says so", async () => {
    await world.kube.delete("Secret", "late");
    const object = await world.condition("EventDestination", "early", { type: "Synced", reason: "SecretNotReady" });
    expect(conditionOf(object, "Ready")?.status).toBe("True");
  });

  test("a key is made anew as soon as its Secret is lost", async () => {
    await world.kube.apply(manifest("APIKey", "ci", { tokenSecretName: "ci" }));
    const { status } = await world.ready("APIKey", "ci");
    await world.kube.delete("Secret", "ci");
    await soon("it has another", async () => (await world.ready("APIKey", "ci")).status.id !== status.id);
  });

  test("an account goes on as soon as its key is there", async () => {
    await world.kube.apply(manifest("GatewayAccount", "other", { apiKeySecretRef: { name: "other", key: "value" } }));
    await world.condition("GatewayAccount", "other", { type: "Ready", reason: "SecretNotReady" });
    await world.kube.apply(secret("other", { value: "wrong" }));
    await world.condition("GatewayAccount", "other", { type: "Ready", reason: "Unauthorized" });
    await world.kube.apply(secret("other", { value: world.simulator.apiKey }));
    await world.ready("GatewayAccount", "other");
  });

  test("a Secret that nobody refers to wakes nothing", async () => {
    // what was replaced before is looked at again until the old one is deleted
    const isThrough = async () => (await world.kube.all()).every(({ status }) => status.retiring === undefined);
    await soon("nothing is being replaced", isThrough);
    await world.quiet();
    const [before, plain] = [await passes(), (await world.ready("EventDestination", "plain")).status];
    for (const value of ["a", "b", "c"]) await world.kube.apply(secret("unrelated", { token: value }));
    await world.kube.delete("Secret", "unrelated");
    // events come in order: what was sent for this one, was decided after those
    await world.kube.apply(secret("plain", { token: "third" }));
    await soon("the other is sent", async () => sent(plain.id).some((body) => body.includes("third")));
    await world.quiet();
    expect((await passes()) - before).toBe(1);
  });
});
