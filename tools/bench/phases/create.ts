import { isReady } from "../../shared/objects.ts";
import type { Figures } from "../figures.ts";
import { runFloor } from "../floor.ts";
import type { Subject } from "../objects.ts";
import { cpuSeconds } from "../processes.ts";
import { figuresOf, readingOf } from "../reading.ts";
import type { Stage } from "../stage.ts";
import type { Times } from "../watcher.ts";

/** The number of objects of a kind that the operator reconciles concurrently. */
const CONCURRENCY = 32;

interface Floor {
  seconds: number;
  clientCPU: number;
  apiServerCPU: number | undefined;
}

/**
 * Creates the objects, starts the operator, and measures the time from when its caches are synced until the last object
 * is seen to be Ready. Before that, measures a plain client in the same way, with other objects.
 */
export async function create(
  stage: Stage,
  count: number,
  options: { floor: boolean },
): Promise<{ subjects: Subject[]; figures: Figures }> {
  const floor = options.floor ? await floorOf(stage, count) : undefined;
  await stage.service.control.reset();

  const subjects = await stage.createSubjects(count);
  const ready = stage.watcher.until(subjects, isReady);
  const operator = await stage.startOperator();
  const before = await readingOf(stage);
  const times = await ready;
  const after = await readingOf(stage);
  // late writes, such as events, count as well
  await stage.quiet();
  const { requests, writes } = await readingOf(stage);

  const wallSeconds = secondsSince(operator.startedAt, times);
  const figures = await figuresOf(stage, {
    phase: "create",
    objects: count,
    wallSeconds,
    // the operator may have sent a few before the first reading
    before: { ...before, requests: 0, writes: 0 },
    after: { ...after, requests, writes },
    took: [...times.values()].map((at) => at - operator.startedAt),
    ...(floor && { more: comparison(floor, wallSeconds) }),
  });
  return { subjects, figures };
}

const comparison = ({ seconds, clientCPU, apiServerCPU }: Floor, wallSeconds: number) => ({
  floorSeconds: seconds,
  floorCPU: clientCPU,
  floorAPIServerCPU: apiServerCPU,
  floorRatio: wallSeconds / seconds,
});

async function floorOf(stage: Stage, count: number): Promise<Floor> {
  const { watcher, namespace, service, settings, apiServer } = stage;
  const subjects = await stage.createSubjects(count);
  const ready = watcher.until(subjects, isReady);
  const { kubeconfig } = settings.cluster;
  const { url, apiKey } = service;
  let before: { at: number; apiServerCPU: number | undefined } | undefined;
  const { cpuSeconds: clientCPU } = await runFloor(
    { kubeconfig, namespace, service: { url, apiKey }, concurrency: CONCURRENCY },
    async ({ at }) => {
      before = { at, apiServerCPU: await cpuSeconds(apiServer) };
    },
  );
  const times = await ready;
  const apiServerAfter = await cpuSeconds(apiServer);
  if (!before) throw new Error("The plain client did not start");
  const apiServerCPU = apiServerAfter === undefined ? undefined : apiServerAfter - (before.apiServerCPU ?? 0);
  await stage.removeAll(subjects);
  return { seconds: secondsSince(before.at, times), clientCPU, apiServerCPU };
}

const secondsSince = (start: number, times: Times): number => (Math.max(...times.values()) - start) / 1000;
