/**
 * Loaded before the operator, so that a test can weigh its heap. A message `{ weigh: name }` prints a line with `name`,
 * the bytes that are in use after a collection, and those that were allocated so far.
 *
 * Both are the same on a fast and on a slow machine, unlike CPU time.
 */
import { Session } from "node:inspector/promises";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** One sample for so many bytes, on average: thousands of samples for what a test measures. */
const SAMPLED_BYTES = 16_384;

interface Node {
  readonly selfSize: number;
  readonly children: readonly Node[];
}

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

const session = new Session();
session.connect();
await session.post("HeapProfiler.startSampling", {
  samplingInterval: SAMPLED_BYTES,
  includeObjectsCollectedByMajorGC: true,
  includeObjectsCollectedByMinorGC: true,
});

process.on("message", async ({ weigh }: { weigh: string }) => {
  const { profile } = await session.post("HeapProfiler.getSamplingProfile");
  collect();
  const { used_heap_size: used, external_memory: external } = getHeapStatistics();
  process.stdout.write(
    `${JSON.stringify({ weighed: weigh, used: used + external, allocated: sizeOf(profile.head) })}\n`,
  );
});
// waiting for messages does not keep the process running
process.channel?.unref();

function sizeOf({ selfSize, children }: Node): number {
  return children.reduce((sum, child) => sum + sizeOf(child), selfSize);
}
