import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

const KIND = "TunnelGroupBackend";

const world = useWorld({ env: { MAX_DELETES_PER_MINUTE: "6" } });

// guards against a mistake that takes everything before anybody notices, and against losing those that wait
test("six deletes in a minute are sent at once, and two more wait for their turn", async () => {
  const names = Array.from({ length: 8 }, (_, index) => `going-${index}`);
  const objects = names.map((name): KubeJSON => manifest(KIND, name, { labels: { app: "web" } }));
  await world.kube.apply(...objects);
  await world.allReady(objects);
  const deleted = () => world.simulator.control.count({ method: "DELETE" });
  await Promise.all(objects.map(({ metadata }) => world.kube.delete(KIND, metadata.name)));
  const left = await world.until("six are gone", async () => {
    const now = await world.kube.list(KIND);
    return now.length === 2 && now.every((object) => conditionOf(object, "Ready")?.reason === "Deleting") && now;
  });
  expect(deleted()).toBe(6);
  for (const object of left) {
    expect(conditionOf(object, "Ready")?.message).toContain("Waiting for its turn");
    expect(conditionOf(object, "Stalled")).toBeUndefined();
  }
  await sleep(3000);
  expect(deleted()).toBe(6);
  await world.until("one more is gone", async () => deleted() === 7, 10);
  await world.until("all are gone", async () => (await world.kube.list(KIND)).length === 0, 15);
  expect(world.simulator.control.accountIsEmpty()).toBe(true);
  expect(deleted()).toBe(8);
});
