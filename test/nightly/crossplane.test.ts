import { beforeAll, expect, test } from "vitest";
import { preparePeer } from "../../tools/bench/peer.ts";
import { runScarce } from "../../tools/bench/scarce/scarce.ts";
import type { MeasuredOperator } from "../../tools/bench/stage.ts";
import { BUILD_MS } from "../../tools/cluster/build/build.ts";
import { useCluster } from "../../tools/cluster/use.ts";
import { SOURCES } from "../../tools/shared/operator.ts";

const cluster = useCluster();

let provider: MeasuredOperator;

beforeAll(async () => {
  provider = await preparePeer(cluster, "crossplane");
}, BUILD_MS);

test("the bench measures a Crossplane provider beside the operator", async () => {
  const figures = await runScarce({
    cluster,
    objects: 4,
    allowed: 120,
    seconds: 120,
    pace: { rest: 0, changes: 2, every: 0.1, patience: 60 },
    operator: { main: SOURCES, env: { RESYNC_INTERVAL: "5s" } },
    peer: { ...provider, env: { POLL_INTERVAL: "5s" } },
  });
  expect(figures.map(({ phase, peer = false }) => [phase, peer])).toEqual([
    ["fill", false],
    ["drift", false],
    ["fill", true],
    ["drift", true],
  ]);
  for (const { more } of figures.filter(({ phase }) => phase === "fill"))
    expect(more).toEqual({ notReady: 0, refused: 0 });
  for (const { more } of figures.filter(({ phase }) => phase === "drift"))
    expect(more).toMatchObject({ changes: 2, notRight: 0, refusedPerMinute: 0 });
});
