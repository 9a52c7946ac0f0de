import { setTimeout as sleep } from "node:timers/promises";
import type { LoggedRequest } from "../../simulator/control/request-log.ts";
import { type Figures, percentile } from "../figures.ts";
import { collections, type Subject } from "../objects.ts";
import { figuresOf, readingOf } from "../reading.ts";
import type { Stage } from "../stage.ts";
import { preciseNow } from "../watcher.ts";
import { refusedRequests } from "./fill.ts";

/** In seconds. */
export interface DriftPace {
  /** Before the first change. */
  rest: number;
  changes: number;
  every: number;
  /** How long to wait at most after the last change. */
  patience: number;
}

export const usualDriftPace: DriftPace = { rest: 60, changes: 20, every: 15, patience: 1800 };

const POLL_MS = 1000;

/**
 * Changes remotes by hand, one after another, and measures for each how long it takes until the operator has put it right.
 * The changes are spread over five minutes, since it depends on chance how soon after one the operator looks.
 */
export async function drift(stage: Stage, subjects: readonly Subject[], pace: DriftPace): Promise<Figures> {
  await sleep(pace.rest * 1000);
  const ids = await idsOf(stage, subjects);
  const step = Math.max(Math.floor(ids.length / pace.changes), 1);
  const chosen = ids.filter((_, index) => index % step === 0).slice(0, pace.changes);

  const [before, refusedBefore] = [await readingOf(stage), await refusedRequests(stage)];
  const changed = new Map<string, number>();
  for (const id of chosen) {
    changed.set(id, preciseNow());
    await stage.service.control.patch(id, { description: "Changed by hand" });
    await sleep(pace.every * 1000);
  }
  const end = preciseNow() + pace.patience * 1000;
  let found = await correctionsOf(stage, changed);
  while (found.some(({ right }) => right === undefined) && preciseNow() < end) {
    await sleep(POLL_MS);
    found = await correctionsOf(stage, changed);
  }
  const after = await readingOf(stage);

  const minutes = (after.at - before.at) / 60_000;
  const took = found.map(({ changed: at, right = after.at }) => right - at);
  const sent = found.map(({ changed: at, sent: first = after.at }) => first - at);
  return figuresOf(stage, {
    phase: "drift",
    objects: subjects.length,
    before,
    after,
    took,
    more: {
      changes: changed.size,
      notRight: found.filter(({ right }) => right === undefined).length,
      rightMax: Math.max(...took),
      sentP50: percentile(sent, 0.5),
      sentMax: Math.max(...sent),
      requestsPerMinute: (after.requests - before.requests) / minutes,
      refusedPerMinute: ((await refusedRequests(stage)) - refusedBefore) / minutes,
    },
  });
}

/** The ids of the remotes of objects. Their descriptions tell which they are. */
async function idsOf({ service }: Stage, subjects: readonly Subject[]): Promise<string[]> {
  const rows = await Promise.all(Object.values(collections).map((path) => service.control.objects(path.slice(1))));
  const ids = new Map(rows.flat().map(({ description, id }) => [description, id as string]));
  return subjects.flatMap(
    ({ object }) => ids.get((object as { spec?: { description?: string } }).spec?.description) ?? [],
  );
}

/** What became of a change. All are times; what has not happened is undefined. */
export interface Correction {
  changed: number;
  /** When the first PATCH of the remote came, whatever it was answered. */
  sent: number | undefined;
  /** When the first came that was accepted. */
  right: number | undefined;
}

/** The corrections of remotes that were changed, by their ids and times. */
export function corrections(
  changed: ReadonlyMap<string, number>,
  patches: readonly Pick<LoggedRequest, "path" | "time" | "status">[],
): Correction[] {
  return [...changed].map(([id, at]) => {
    // the service dates in whole milliseconds
    const own = patches.filter(({ path, time }) => path.endsWith(`/${id}`) && time >= Math.floor(at));
    return { changed: at, sent: own[0]?.time, right: own.find(({ status }) => status === 200)?.time };
  });
}

const correctionsOf = async ({ service }: Stage, changed: ReadonlyMap<string, number>): Promise<Correction[]> =>
  corrections(changed, await service.control.requests({ method: "PATCH" }));
