import { afterAll, beforeAll, expect, test } from "vitest";
import { conditionOf, manifest } from "../../../tools/shared/objects.ts";
import { type Simulator, startSimulator } from "../../../tools/simulator/simulator.ts";
import type { Gate } from "../../support/gate.ts";
import { gateOfTwo } from "../../support/second-account.ts";
import { useWorld } from "../../support/world.ts";

/** One remote, by the operator's own credentials. While no operator runs, the key is exchanged, or the remote goes. */
const world = useWorld({ startOperator: false });

let stranger: Simulator;
let gate: Gate;

const start = ({ apiKey }: Simulator) => world.startOperator({}, { gateway: { url: gate.url, apiKey } });
const writesTo = ({ control }: Simulator) => control.requests().filter(({ method }) => method !== "GET");
const policiesOf = ({ control }: Simulator) => control.objects("ip_policies");

beforeAll(async () => {
  stranger = await startSimulator();
  gate = await gateOfTwo(world.simulator, stranger);
  await start(world.simulator);
  await world.kube.apply(manifest("IPPolicy", "only", {}));
  await world.ready("IPPolicy", "only");
  await world.operator.stop();
});

afterAll(async () => {
  await world.operator.stop();
  await gate.close();
  await stranger.stop();
});

// guards against a second remote in the account of another key
test("a wrong key at the start creates nothing in its account, although only one id is recorded", async () => {
  await start(stranger);
  const reported = await world.condition("IPPolicy", "only", { type: "Synced", reason: "AccountMismatch" });
  expect(conditionOf(reported, "Synced")?.message).toContain("GATEWAY_ACCOUNT_CONFIRMED=true");
  expect(writesTo(stranger)).toEqual([]);
  await world.operator.stop();
});

// guards against an object that waits for a person, although the key is known and only its remote is gone
test("a key that was proved before is accepted, although its account has no remotes left", async () => {
  const [remote] = policiesOf(world.simulator);
  world.simulator.control.remove(String(remote?.id));
  await start(world.simulator);
  await world.until("it is made again", async () => policiesOf(world.simulator).length === 1);
  expect(policiesOf(world.simulator)[0]?.id).not.toBe(remote?.id);
});

// guards against a second remote in the account of another key, where no list shows what is recorded
test("a wrong key at the start creates nothing either if only the modules of a route are recorded", async () => {
  await world.kube.delete("IPPolicy", "only");
  await world.gone("IPPolicy", "only");
  const route = world.simulator.control.addRoute();
  const webhookVerification = { enabled: true, provider: "sns" };
  await world.kube.apply(manifest("HTTPSEdgeRoute", "route", { ...route, webhookVerification }));
  await world.ready("HTTPSEdgeRoute", "route");
  await world.operator.stop();
  stranger.control.clearRequests();
  await start(stranger);
  await world.kube.apply(manifest("IPPolicy", "fresh", {}));
  await world.condition("IPPolicy", "fresh", { type: "Ready", reason: "AccountMismatch" });
  await world.condition("HTTPSEdgeRoute", "route", { type: "Synced", reason: "AccountMismatch" });
  expect(writesTo(stranger)).toEqual([]);
  await world.operator.stop();
  await start(world.simulator);
  await world.ready("IPPolicy", "fresh");
});
