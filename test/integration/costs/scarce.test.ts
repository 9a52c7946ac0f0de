import { expect, test } from "vitest";
import { runScarce } from "../../../tools/bench/scarce/scarce.ts";
import { useCluster } from "../../../tools/cluster/use.ts";
import { SOURCES } from "../../../tools/shared/operator.ts";

const cluster = useCluster();

test("the bench measures the operator with a service that allows few requests", async () => {
  const [fill, drift, ...others] = await runScarce({
    cluster,
    objects: 4,
    allowed: 120,
    seconds: 60,
    pace: { rest: 0, changes: 2, every: 0.1, patience: 60 },
    operator: { main: SOURCES, env: { RESYNC_INTERVAL: "5s" } },
  });
  expect(others).toEqual([]);
  expect(fill).toMatchObject({ phase: "fill", objects: 4, writes: expect.any(Number) });
  expect(fill?.more).toEqual({ notReady: 0, refused: 0 });
  expect(drift).toMatchObject({ phase: "drift", objects: 4, p50: expect.any(Number) });
  expect(drift?.more).toMatchObject({ changes: 2, notRight: 0, refusedPerMinute: 0 });
});
