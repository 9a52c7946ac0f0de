import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { conditionOf, isReady, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

const ALWAYS = Number.POSITIVE_INFINITY;
const numbered = (names: string, count: number): KubeJSON[] =>
  Array.from({ length: count }, (_, index) => manifest("IPPolicy", `${names}-${index}`, { description: "first" }));

describe.each([{ perMinute: "100" }, { perMinute: "0" }])("with $perMinute requests per minute", ({ perMinute }) => {
  const world = useWorld({ process: true, env: { REQUESTS_PER_MINUTE: perMinute } });
  const control = () => world.simulator.control;
  const synced = (object: KubeJSON) => conditionOf(object, "Synced");

  // guards against a hot loop that only the request budget hides
  test("ten objects whose PATCH fails send less and less, and other objects report nothing", async () => {
    const failing = numbered("failing", 10);
    const healthy = [...numbered("healthy", 2), manifest("TunnelGroupBackend", "healthy", { labels: { a: "b" } })];
    await world.kube.apply(...failing, ...healthy);
    await world.allReady([...failing, ...healthy]);
    const ids = (await world.kube.list("IPPolicy")).filter(({ metadata }) => metadata.name.startsWith("failing"));
    const path = new RegExp(`^/ip_policies/(${ids.map(({ status }) => status.id).join("|")})$`);
    control().fault({ method: "PATCH", path, times: ALWAYS, action: { status: 500 } });
    const edit = (object: KubeJSON, description: string) =>
      world.kube.patch(object.kind, object.metadata.name, { spec: { description } });
    await Promise.all(failing.map((object) => edit(object, "second")));
    await world.untilAll("all have failed", failing, (object) => synced(object)?.reason === "ServiceUnavailable");
    for (let round = 0; round < 10; round += 1) {
      await sleep(2000);
      for (const object of healthy) await edit(object, `round ${round}`);
      const now = await world.untilAll(
        "the healthy are",
        healthy,
        ({ status, metadata }) => status.observedGeneration === metadata.generation,
      );
      for (const object of now) expect([isReady(object), synced(object)?.status]).toEqual([true, "True"]);
    }
    const patches = control().count({ method: "PATCH", path });
    expect(patches).toBeLessThanOrEqual(25);
    control().clearFaults();
    await world.kube.annotate("IPPolicy", "failing-0", { "tunnelgateway.dev/reconcile-requested-at": "now" });
    await world.untilAll("all are applied", failing, isReady, 60);
  });

  // guards against a GatewayAccount that is written again and again, and requests without end, for one permission
  test("a POST that answers 401 while the key works affects its object only", async () => {
    await world.kube.apply(
      secret("key", { key: world.simulator.apiKey }),
      manifest("GatewayAccount", "some", { apiKeySecretRef: { name: "key", key: "key" } }),
    );
    await world.ready("GatewayAccount", "some");
    const inSome = (kind: string, name: string, spec: object) =>
      manifest(kind, name, { accountRef: { name: "some" }, ...spec });
    await world.kube.apply(inSome("IPPolicy", "well", {}));
    await world.ready("IPPolicy", "well");
    await world.quiet();
    const version = async () => (await world.get("GatewayAccount", "some"))?.metadata.resourceVersion;
    const before = await version();
    control().fault({
      method: "POST",
      path: "^/reserved_addrs$",
      times: ALWAYS,
      action: { status: 401, body: { msg: "no" } },
    });
    control().clearRequests();
    const { writes } = await world.operator.clusterRequests();
    await world.kube.apply(inSome("ReservedAddress", "refused", {}));
    await world.condition("ReservedAddress", "refused", { type: "Ready", status: "False", reason: "Unauthorized" });
    await sleep(20_000);
    const requests = control()
      .requests()
      .map(({ method, path, status }) => `${method} ${path} ${status}`);
    expect(requests.filter((one) => one.startsWith("POST")).length).toBeLessThanOrEqual(3);
    expect((await world.operator.clusterRequests()).writes - writes).toBeLessThanOrEqual(8);
    expect(await version()).toBe(before);
    const account = await world.get("GatewayAccount", "some");
    expect(isReady(account as KubeJSON)).toBe(true);
    await world.kube.patch("IPPolicy", "well", { spec: { description: "edited" } });
    await world.ready("IPPolicy", "well");
  });
});
