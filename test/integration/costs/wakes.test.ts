import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { subjects } from "../../../tools/bench/objects.ts";
import { useWorld } from "../../support/world.ts";

// What an operator at rest costs is how often it is woken: by timers, renewals of its Lease, looks at other Leases. A slow
// or busy machine does not change that, unlike CPU time.

/** What was measured when this was last looked at. Lower it when it has fallen. */
const A_SECOND = 21;
const TOLERANCE = 1.5;
const SECONDS = 6;

const world = useWorld({ process: true, startOperator: false });

/** How often the main thread gave up the processor by itself, that is, went to sleep. */
async function sleeps(): Promise<number> {
  const status = await readFile(`/proc/${world.operator.pid}/status`, "utf8");
  return Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1]);
}

beforeAll(async () => {
  await world.startOperator({ LOG_LEVEL: "info", LEADER_ELECTION: "true", POD_NAMESPACE: world.namespace });
  const objects = subjects(20, world.namespace).map(({ object }) => object);
  await world.kube.apply(...objects);
  await world.allReady(objects);
});

test.runIf(process.platform === "linux")("an operator at rest is woken a few times a second", async () => {
  await sleep(2_000);
  const before = await sleeps();
  await sleep(SECONDS * 1_000);
  const each = ((await sleeps()) - before) / SECONDS;
  expect(each).toBeGreaterThan(1);
  expect(each).toBeLessThan(A_SECOND * TOLERANCE);
});
