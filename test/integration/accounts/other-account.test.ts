import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { annotations } from "../../../src/schema/contract.ts";
import { conditionOf, isReady, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { type Simulator, startSimulator } from "../../../tools/simulator/simulator.ts";
import type { Gate } from "../../support/gate.ts";
import { secret } from "../../support/samples.ts";
import { gateOfTwo } from "../../support/second-account.ts";
import { useWorld } from "../../support/world.ts";

/** One address for two accounts: the key says which. Fewer of each kind than the mass-loss guard minds. */
const world = useWorld({ startOperator: false });
let stranger: Simulator;
let gate: Gate;

const start = () => world.startOperator({}, { gateway: { url: gate.url, apiKey: world.simulator.apiKey } });

beforeAll(async () => {
  stranger = await startSimulator();
  gate = await gateOfTwo(world.simulator, stranger);
  await start();
  await world.kube.apply(
    secret("key", { key: world.simulator.apiKey }),
    manifest("GatewayAccount", "default", { apiKeySecretRef: { name: "key", key: "key" } }),
  );
});

afterAll(async () => {
  await world.operator.stop();
  const released = { metadata: { finalizers: null } };
  await world.kube.patch("GatewayAccount", "default", released);
  await world.kube.patch("Secret", "key", released);
  await gate.close();
  await stranger.stop();
});

const four = (kind: string, name: string, spec: object = {}): KubeJSON[] =>
  Array.from({ length: 4 }, (_, index) => manifest(kind, `${name}-${index}`, { description: name, ...spec }));
const policies = four("IPPolicy", "policy");
const [edited, leaving, ...others] = [
  ...policies,
  ...four("TunnelGroupBackend", "backend", { labels: { app: "a" } }),
  ...four("TLSEdge", "edge"),
] as [KubeJSON, KubeJSON, ...KubeJSON[]];
const all = [edited, leaving, ...others];
const fresh = manifest("IPPolicy", "fresh", { description: "fresh" });

const says = (type: string) => (object: KubeJSON) => conditionOf(object, type)?.reason === "AccountMismatch";
const isWell = (object: KubeJSON): boolean => isReady(object) && conditionOf(object, "Synced")?.status === "True";
let asked = 0;
const askAccount = () =>
  world.kube.annotate("GatewayAccount", "default", { [annotations.reconcileRequestedAt]: `${++asked}` });
const accountSays = (reason: string) => world.condition("GatewayAccount", "default", { type: "Ready", reason });

/** Somebody puts another key into the Secret. It is used at once. */
async function useKeyOf({ apiKey }: Simulator): Promise<void> {
  await world.kube.apply(secret("key", { key: apiKey }));
  await askAccount();
}

const rows = ({ control }: Simulator): number =>
  Object.values(control.summary()).reduce((sum, count) => sum + count, 0);
const writesTo = ({ control }: Simulator) => control.requests().filter(({ method }) => method !== "GET");

describe("a key of another account", () => {
  let before: number;

  // guards against everything being made a second time, and every deletion being taken for done, kind by kind
  test("makes, changes and deletes nothing, and says so", async () => {
    await world.kube.apply(...all);
    await world.allReady(all);
    before = rows(world.simulator);
    await useKeyOf(stranger);
    const { status } = await accountSays("AccountMismatch");
    expect(conditionOf({ status }, "Ready").message).toMatch(/none of the 12 remotes .* on GatewayAccount "default"$/);
    await world.kube.delete("IPPolicy", leaving.metadata.name);
    await world.kube.patch("IPPolicy", edited.metadata.name, { spec: { description: "edited" } });
    await world.kube.apply(fresh);
    const looked = [...others].map(({ kind, metadata }) =>
      world.kube.annotate(kind, metadata.name, { [annotations.reconcileRequestedAt]: "now" }),
    );
    await Promise.all(looked);
    const reported = await world.untilAll("all are told", others, says("Synced"));
    expect(reported.filter(isReady)).toHaveLength(others.length);
    await world.untilAll("the edit waits", [edited], says("Ready"));
    await world.untilAll("the deletion and the new one wait", [leaving, fresh], says("Ready"));
    expect(writesTo(stranger)).toEqual([]);
  });

  test("does nothing at a start either", async () => {
    await world.operator.stop();
    stranger.control.clearRequests();
    await start();
    const [again] = await world.reconcileNow(others[0] as KubeJSON);
    expect(says("Synced")(again as KubeJSON)).toBe(true);
    expect(stranger.control.count({ method: "GET" })).toBeGreaterThan(0);
    expect(writesTo(stranger)).toEqual([]);
    expect(rows(world.simulator)).toBe(before);
  });

  test("is forgotten with the right one: nothing is there twice, and what was asked for is done", async () => {
    await useKeyOf(world.simulator);
    await accountSays("Available");
    await world.untilAll("all are well", [edited, fresh, ...others], isWell, 60);
    await world.gone("IPPolicy", leaving.metadata.name);
    expect(rows(world.simulator)).toBe(before);
    expect(rows(stranger)).toBe(0);
  });

  test("is used where a person says that it is right", async () => {
    const wanted = [edited, fresh, ...others];
    await useKeyOf(stranger);
    await accountSays("AccountMismatch");
    expect(rows(stranger)).toBe(0);
    await askAccount();
    await accountSays("Available");
    const looked = wanted.map(({ kind, metadata }) =>
      world.kube.annotate(kind, metadata.name, { [annotations.reconcileRequestedAt]: "again" }),
    );
    await Promise.all(looked);
    await world.until("all are made", async () => rows(stranger) === wanted.length);
    expect(rows(world.simulator)).toBe(before);
  });
});
