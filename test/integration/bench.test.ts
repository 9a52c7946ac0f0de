import { join } from "node:path";
import { expect, test } from "vitest";
import { PHASES } from "../../tools/bench/arguments.ts";
import { runBench } from "../../tools/bench/run.ts";
import { useCluster } from "../../tools/cluster/use.ts";

const cluster = useCluster();

test("the bench goes through its phases, and the counts are what they have to be", async () => {
  const figures = await runBench({
    ...{ cluster, phases: PHASES, objects: 20, bigObjects: 20, latencies: [0], repeat: 1 },
    operator: join(import.meta.dirname, "../../src/main.ts"),
    pace: { trickle: 1, resync: 4, idle: 1, bigResync: 2, limitedBigResync: 3 },
  });
  const counts = figures.map(({ phase, requests, writes }) => [phase, requests, writes]);
  // one of each resource, so that nothing is made that is there
  const lists = 2 / 20;
  // the first process makes the Secret, and notes that there was nothing to sign
  const keyOfIntents = 2 / 20;
  // one of each kind that can use a tunnel group, for a burst of deletions
  const uses = 4 / 20;
  expect(counts).toEqual([
    ["create", 1 + lists, 2 + keyOfIntents],
    ["restart", lists, 0],
    ["resync", lists, 0],
    ["update", 1, 1],
    ["delete", 1 + uses, 1],
    ["trickle", 1 + lists, 2],
    ["big", 0, 0],
  ]);
  const big = figures.at(-1)?.more;
  expect(big).toMatchObject({ edits: expect.any(Number), limitedEdits: expect.any(Number) });
}, 300_000);
