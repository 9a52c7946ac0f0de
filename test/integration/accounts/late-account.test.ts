import { afterAll, beforeAll, expect, test } from "vitest";
import { manifest } from "../../../tools/shared/objects.ts";
import { type Simulator, startSimulator } from "../../../tools/simulator/simulator.ts";
import { ClusterGate, isWatch } from "../../support/gate.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld({ startOperator: false });

let other: Simulator;
let gate: ClusterGate;
/** Requests for the watch of GatewayAccounts that are held back. */
let held = 0;
let isHolding = false;
const released = Promise.withResolvers<void>();

beforeAll(async () => {
  other = await startSimulator({ apiKey: "the-key-of-the-team" });
  gate = await ClusterGate.beforeCluster(world.cluster.kubeconfig);
  gate.guard = async (passage, side) => {
    if (!isHolding || side !== "before" || !isWatch(passage) || !passage.path.includes("/gatewayaccounts"))
      return undefined;
    held += 1;
    await released.promise;
    return undefined;
  };
  await world.startOperator({ ALLOWED_GATEWAY_HOSTS: new URL(other.url).host }, { kubeconfig: gate.kubeconfig });
});

afterAll(async () => {
  released.resolve();
  await world.operator.stop();
  await Promise.all([gate.close(), other.stop()]);
});

// guards against a remote in the operator's own account that was meant for the account of the team
test("a first object uses the GatewayAccount named default before any watch has delivered that", async () => {
  isHolding = true;
  gate.endWatches("");
  await world.until("the watch of GatewayAccounts is held back", async () => held > 0);
  const account = manifest("GatewayAccount", "default", {
    apiKeySecretRef: { name: "of-the-team", key: "key" },
    baseURL: other.url,
  });
  await world.kube.apply(
    secret("of-the-team", { key: "the-key-of-the-team" }),
    account,
    manifest("IPPolicy", "first", {}),
  );
  await world.ready("IPPolicy", "first");
  expect(other.control.objects("ip_policies")).toHaveLength(1);
  expect(world.simulator.control.objects("ip_policies")).toEqual([]);
});
