import { expect, test } from "vitest";
import { manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

/** Three pages of what may use a policy. */
const EDGES = 250;
const PAGE_MS = 4_000;

const world = useWorld({ startOperator: false });

// in an account of thousands, the request limit alone makes lists as slow as this
test("many deletions share the lists that show who uses what they delete, also where lists are slow", async () => {
  const { control } = world.simulator;
  for (let index = 0; index < EDGES; index += 1) control.insert("edges/tcp", { description: String(index) });
  const names = Array.from({ length: 12 }, (_, index) => `office-${index}`);
  await world.startOperator();
  await world.kube.apply(...names.map((name) => manifest("IPPolicy", name, {})));
  for (const name of names) await world.ready("IPPolicy", name);
  await world.restartOperator({ REQUESTS_PER_MINUTE: "40" });
  control.fault({ method: "GET", path: "/edges/tcp", times: 1000, action: { delayMs: PAGE_MS } });
  control.clearRequests();
  await Promise.all(names.map((name) => world.kube.delete("IPPolicy", name)));
  await world.until("all are deleted", async () => control.objects("ip_policies").length === 0, 90);
  // the first list of a process is read twice, if it has several pages
  expect(control.count({ method: "GET", path: "/edges/tcp" })).toBeLessThanOrEqual(2 * 3);
  expect(control.count({ method: "DELETE" })).toBe(names.length);
  control.clearFaults();
}, 180_000);
