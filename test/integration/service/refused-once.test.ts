import { expect, test } from "vitest";
import { conditionOf, manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld();

test("one 405 costs no domain: nothing is deleted or recreated, and no person is called", async () => {
  const domain = (spec: object) =>
    manifest("ReservedDomain", "docs", { domain: "docs.example.org", replacement: "Recreate", ...spec });
  const { control } = world.simulator;
  await world.kube.apply(domain({ description: "first" }));
  const { status } = await world.ready("ReservedDomain", "docs");
  control.fault({ method: "PATCH", action: { status: 405 } });
  await world.kube.apply(domain({ description: "second" }));
  const refused = { type: "Reconciling", status: "True", reason: "UpdateUnsupported" };
  const object = await world.condition("ReservedDomain", "docs", refused);
  expect(conditionOf(object, "Stalled")).toBeUndefined();
  expect(object.status.id).toBe(status.id);
  await world.quiet();
  expect(control.count({ method: "DELETE" })).toBe(0);
  expect(control.count({ method: "POST" })).toBe(1);
  expect(control.get(status.id)).toMatchObject({ description: "first" });
});
