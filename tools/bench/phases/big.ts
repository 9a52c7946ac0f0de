import { setTimeout as sleep } from "node:timers/promises";
import { isReady } from "../../shared/objects.ts";
import type { LoggedRequest } from "../../simulator/control/request-log.ts";
import { type Figures, percentile } from "../figures.ts";
import type { Subject } from "../objects.ts";
import { memoryOf } from "../processes.ts";
import { figuresOf, readingOf } from "../reading.ts";
import type { Stage } from "../stage.ts";
import { preciseNow } from "../watcher.ts";
import type { Pace } from "./pace.ts";
import { observed } from "./restart.ts";

const POLL_MS = 20;

/** Many objects: at rest, then during resyncs, when objects are edited as well. */
export async function big(stage: Stage, count: number, pace: Pace): Promise<Figures> {
  const subjects = await stage.createSubjects(count);
  const ready = stage.watcher.until(subjects, isReady, 1200);
  await stage.startOperator();
  await ready;
  await stage.quiet(2000);

  const before = await readingOf(stage);
  await sleep(pace.idle * 1000);
  const after = await readingOf(stage);
  const { rss, peak } = await memoryOf(stage.operator.pid);
  const unlimited = await editsDuringResync(stage, subjects, { limit: 0, resyncSeconds: pace.bigResync, everyMs: 25 });
  const limited = await editsDuringResync(stage, subjects, {
    limit: 100,
    resyncSeconds: pace.limitedBigResync,
    everyMs: 4000,
  });
  const figures = await figuresOf(stage, {
    phase: "big",
    objects: count,
    before,
    after,
    more: {
      rss,
      idlePercent: percent(before.operatorCPU, after.operatorCPU, pace.idle),
      resyncRequests: unlimited.lists,
      resyncSeconds: unlimited.seconds,
      edits: unlimited.edits,
      editP50: unlimited.p50,
      editP99: unlimited.p99,
      limitedResyncRequests: limited.lists,
      limitedResyncSeconds: limited.seconds,
      limitedEdits: limited.edits,
      limitedEditMax: limited.max,
    },
  });
  // of the process that created the objects, and of the last one
  const peaks = [peak, figures.peakRSS].filter((each) => each !== undefined);
  return peaks.length > 0 ? { ...figures, peakRSS: Math.max(...peaks) } : figures;
}

export const percent = (before: number | undefined, after: number | undefined, seconds: number): number | undefined =>
  before === undefined || after === undefined ? undefined : ((after - before) / seconds) * 100;

interface Resync {
  /** The number of list requests. */
  lists: number;
  seconds: number;
  edits: number;
  p50: number | undefined;
  p99: number | undefined;
  max: number;
}

interface Editing {
  /** The limit of requests a minute; 0 is no limit. */
  limit: number;
  resyncSeconds: number;
  /** The time between two edits. */
  everyMs: number;
}

/** Edits objects during a resync, and measures when each edit arrives at the service. */
async function editsDuringResync(stage: Stage, subjects: readonly Subject[], editing: Editing): Promise<Resync> {
  await stage.startOperator({
    REQUESTS_PER_MINUTE: String(editing.limit),
    RESYNC_INTERVAL: `${editing.resyncSeconds}s`,
  });
  await observed(stage, subjects.length, 300);
  await stage.quiet();
  const lists = await listsSince(stage);
  while ((await lists()).length === 0) await sleep(POLL_MS);

  const sent = new Map<string, number>();
  const patches: Promise<unknown>[] = [];
  const pages = Math.ceil(subjects.length / 100);
  let next = 0;
  do {
    const { type, object } = subjects[next++] as Subject;
    const description = `Edited ${editing.limit} ${object.metadata.name}`;
    sent.set(description, preciseNow());
    patches.push(stage.client.patchMerge(type, object.metadata, { spec: { description } }));
    await sleep(editing.everyMs);
  } while ((await lists()).length < pages && next < subjects.length);
  await Promise.all(patches);
  const took = await arrivals(stage, sent);
  const all = await lists();
  return {
    lists: all.length,
    seconds: ((all.at(-1)?.time ?? 0) - (all[0]?.time ?? 0)) / 1000,
    edits: sent.size,
    p50: percentile(took, 0.5),
    p99: percentile(took, 0.99),
    max: Math.max(...took),
  };
}

const ARRIVAL_SECONDS = 60;

/** The milliseconds that each edit took to reach the service, by its description. Waits until all have arrived. */
export async function arrivals(
  { service }: Pick<Stage, "service">,
  sent: ReadonlyMap<string, number>,
): Promise<number[]> {
  const end = preciseNow() + ARRIVAL_SECONDS * 1000;
  for (;;) {
    const took = (await service.control.requests({ method: "PATCH" })).flatMap(({ body, time }) => {
      const at = sent.get((body as { description?: string }).description ?? "");
      return at === undefined ? [] : [time - at];
    });
    if (took.length >= sent.size) return took;
    if (preciseNow() > end) throw new Error(`Of ${sent.size} edits only ${took.length} have reached the service`);
    await sleep(200);
  }
}

/** Clears the request log. The result returns the list requests since then. */
async function listsSince({ service }: Stage): Promise<() => Promise<LoggedRequest[]>> {
  await service.control.clearRequests();
  return () => service.control.requests({ method: "GET", path: "^/(reserved_domains|backends/tunnel_group)$" });
}
