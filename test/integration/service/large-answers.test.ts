import { expect, test } from "vitest";
import { conditionOf, manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

// Whoever may write in the account makes members of an answer so large that no object has room for them.

const world = useWorld({ env: { RESYNC_INTERVAL: "1s" } });

test("a status leaves out what is too large, says so, and shows it again when it fits", async () => {
  const { control } = world.simulator;
  await world.apply(manifest("AgentIngress", "a", { domain: "in.example.com" }));
  const ready = await world.ready("AgentIngress", "a");
  const { id } = ready["status"];
  const before = control.get(id);
  const many = Array.from({ length: 10_000 }, (_, index) => `ns${index}.${"x".repeat(190)}.example.net`);
  control.patch(id, { ns_targets: many, region_domains: ["jp.in.example.com"] });
  const object = await world.condition("AgentIngress", "a", { type: "Synced", status: "False" });
  expect(conditionOf(object, "Synced")?.message).toBe(
    "Make nsTargets of the resource smaller in the account: it has more than the 32768 bytes that a status shows of a field",
  );
  expect(conditionOf(object, "Ready")?.status).toBe("True");
  expect(object["status"]).toMatchObject({ id, regionDomains: ["jp.in.example.com"] });
  expect(object["status"].nsTargets).toBeUndefined();

  control.patch(id, { ns_targets: before?.["ns_targets"] });
  const again = await world.condition("AgentIngress", "a", { type: "Synced", status: "True" });
  expect(again["status"].nsTargets).toEqual(ready["status"].nsTargets);
});
