import { expect, test } from "vitest";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

// A list that fails for long, while all other requests succeed.

const world = useWorld({ env: { RESYNC_INTERVAL: "1s" } });
const names = ["one", "two", "three"];
const versions = () =>
  Promise.all(names.map(async (name) => (await world.kube.get("TunnelGroupBackend", name))?.metadata.resourceVersion));

test.each([
  ["fails", { status: 500 }, "ServiceUnavailable"],
  [
    "is too large to be read",
    { status: 200, body: `{"backends": [], "x": "${"x".repeat(33 * 2 ** 20)}"}` },
    "UnexpectedResponse",
  ],
])("objects and their account say that their list %s, and nobody writes it again", async (_, action, reason) => {
  const { control } = world.simulator;
  await world.kube.apply(
    secret("key", { key: world.simulator.apiKey }),
    manifest("GatewayAccount", "default", { apiKeySecretRef: { name: "key", key: "key" } }),
    ...names.map((name) => manifest("TunnelGroupBackend", name, { labels: { name } })),
  );
  for (const name of names) await world.ready("TunnelGroupBackend", name);
  control.fault({ method: "GET", path: "/backends/tunnel_group", times: Number.POSITIVE_INFINITY, action });
  const failed = { type: "Synced", status: "False", reason };
  for (const name of names) {
    const object: KubeJSON = await world.condition("TunnelGroupBackend", name, failed);
    expect(conditionOf(object, "Synced")?.message).toMatch(/^Changes in the account are not seen since /);
    expect(conditionOf(object, "Ready")?.status).toBe("True");
  }
  await world.condition("GatewayAccount", "default", failed);
  const before = await versions();
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  expect(await versions()).toEqual(before);
  control.clearFaults();
  for (const name of names) await world.condition("TunnelGroupBackend", name, { type: "Synced", status: "True" });
  await world.until("the account says nothing of it", async () => {
    const account = await world.kube.get("GatewayAccount", "default");
    return account && conditionOf(account, "Synced") === undefined;
  });
});
