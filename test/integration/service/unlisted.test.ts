import { expect, test } from "vitest";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { command } from "../../support/command.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

// A list that fails for long, while all other requests succeed.

const world = useWorld({ env: { RESYNC_INTERVAL: "1s" } });
const names = ["one", "two", "three"];
const versions = () =>
  Promise.all(names.map(async (name) => (await world.kube.get("TunnelGroupBackend", name))?.metadata.resourceVersion));

/** A command for the objects of this namespace: other tests share the cluster. */
const run = async (...args: string[]) => {
  const env = { WATCH_NAMESPACES: world.namespace };
  const { code, stdout, stderr } = await command(world, [...args, "-n", world.namespace], env);
  return { code, said: `${stdout}${stderr}` };
};

test.each([
  ["fails", { status: 500 }, "ServiceUnavailable", /500/],
  [
    "is too large to be read",
    { status: 200, body: `{"backends": [], "x": "${"x".repeat(33 * 2 ** 20)}"}` },
    "UnexpectedResponse",
    /the answer is longer than 33554432 bytes/,
  ],
])("objects, their account and commands say that their list %s, and nobody writes it again", async (...row) => {
  const [, action, reason, why] = row;
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
    const { message } = conditionOf(object, "Synced") ?? {};
    expect(message).toMatch(/^Changes in the account are not seen since /);
    expect(message).toMatch(why);
    expect(conditionOf(object, "Ready")?.status).toBe("True");
  }
  await world.condition("GatewayAccount", "default", failed);
  const before = await versions();
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  expect(await versions()).toEqual(before);

  const status = await run("status");
  expect(status.said).toMatch(new RegExp(`default +False +${reason} for `));
  expect(status.said).toMatch(new RegExp(`Not synced.*TunnelGroupBackend/one .*${reason}`, "s"));
  expect(status.said).toMatch(why);
  const plan = await run("plan");
  expect(plan.code).toBe(1);
  expect(plan.said).toMatch(new RegExp(`Could not list /backends/tunnel_group: .*${why.source}`));
  expect(plan.said).not.toContain("Forbidden");

  control.clearFaults();
  for (const name of names) await world.condition("TunnelGroupBackend", name, { type: "Synced", status: "True" });
  await world.until("the account says nothing of it", async () => {
    const account = await world.kube.get("GatewayAccount", "default");
    return account && conditionOf(account, "Synced") === undefined;
  });
  expect((await run("status")).said).not.toContain("Not synced");
  const planned = await run("plan");
  expect(planned).toMatchObject({ code: 0 });
});
