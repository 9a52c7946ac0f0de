import { beforeAll, expect, test } from "vitest";
import { PHASES } from "../../../tools/bench/arguments.ts";
import type { Figures } from "../../../tools/bench/figures.ts";
import { preparePeer } from "../../../tools/bench/peer.ts";
import { runBench } from "../../../tools/bench/run.ts";
import type { MeasuredOperator } from "../../../tools/bench/stage.ts";
import { BUILD_MS } from "../../../tools/cluster/build/build.ts";
import { useCluster } from "../../../tools/cluster/use.ts";
import { SOURCES } from "../../../tools/shared/operator.ts";

const cluster = useCluster();

let peer: MeasuredOperator;

beforeAll(async () => {
  peer = await preparePeer(cluster);
}, BUILD_MS);

test("the bench runs all phases, and its counts are as expected", async () => {
  const figures = await runBench({
    cluster,
    phases: PHASES,
    objects: 20,
    bigObjects: 20,
    latencies: [0],
    repeat: 1,
    sizes: [10, 20],
    objectsPerAccount: 10,
    operator: { main: SOURCES },
    peer,
    pace: {
      trickle: 1,
      resync: 4,
      idle: 1,
      bigResync: 2,
      limitedBigResync: 3,
      edits: 2,
      editEvery: 0.1,
      accountsResync: 5,
    },
  });
  const countsOf = (measured: readonly Figures[]) =>
    measured.map(({ phase, requests, writes }) => [phase, requests, writes]);
  // one of each resource, so that nothing is made that is there
  const lists = 2 / 20;
  // the first process makes the Secret, and notes at it that the API key is known
  const keyOfIntents = 2 / 20;
  // one of each kind that can use a tunnel group, for a burst of deletions
  const uses = 4 / 20;
  expect(countsOf(figures.filter(({ peer }) => !peer))).toEqual([
    ["create", 1 + lists, 2 + keyOfIntents],
    ["restart", lists, 0],
    // beside these two, the certificates that domains may serve, with and without an object
    ["resync", 3 / 20, 0],
    ["update", 1, 1],
    ["delete", 1 + uses, 1],
    ["trickle", 1 + lists, 2],
    ["big", 0, 0],
    ["accounts", 0, 0],
    ["accounts", 0, 0],
  ]);
  // the peer reads each remote whenever it looks at its object
  expect(countsOf(figures.filter(({ peer }) => peer))).toEqual([
    ["create", 1, 2],
    ["restart", 1, 0],
    ["resync", 1, 0],
    ["update", 2, 1],
    ["delete", 1, 1],
    ["trickle", 1, 2],
  ]);
  const [small, large] = figures.filter(({ phase }) => phase === "accounts");
  expect(small).toMatchObject({ objects: 10, more: { accounts: 1, edits: 2, editP99: expect.any(Number) } });
  expect(large).toMatchObject({ objects: 20, more: { accounts: 2, edits: 2, editP99: expect.any(Number) } });
  const big = figures.find(({ phase }) => phase === "big")?.more;
  expect(big).toMatchObject({ edits: expect.any(Number), limitedEdits: expect.any(Number) });
});
