import { conditionOf, nameOf } from "../../shared/objects.ts";
import type { Figures } from "../figures.ts";
import type { Subject } from "../objects.ts";
import { figuresOf, readingOf } from "../reading.ts";
import type { Stage } from "../stage.ts";

/**
 * Creates the objects, starts the operator, and measures until the last object is Ready, or until the time is over. An
 * object that is not Ready by then counts as if it had become so at that moment, and `notReady` says how many these are.
 * Resolves with those that are Ready.
 */
export async function fill(
  stage: Stage,
  count: number,
  seconds: number,
): Promise<{ ready: Subject[]; figures: Figures }> {
  const subjects = await stage.createSubjects(count);
  // nobody edits these objects, and a Crossplane provider notes no generation beside its conditions
  const done = stage.watcher.within(subjects, (object) => conditionOf(object, "Ready")?.status === "True", seconds);
  const { startedAt } = await stage.startOperator();
  const before = await readingOf(stage);
  const times = await done;
  const after = await readingOf(stage);
  const took = subjects.map(({ object }) => (times.get(nameOf(object)) ?? after.at) - startedAt);
  const figures = await figuresOf(stage, {
    phase: "fill",
    objects: count,
    wallSeconds: Math.max(...took) / 1000,
    // the operator may have sent a few before the first reading
    before: { ...before, requests: 0, writes: 0 },
    after,
    took,
    more: {
      notReady: count - times.size,
      refused: (await refusedRequests(stage)) / count,
    },
  });
  return { ready: subjects.filter(({ object }) => times.has(nameOf(object))), figures };
}

/** The number of requests so far that the service has refused because there were too many. */
export const refusedRequests = ({ service }: Pick<Stage, "service">): Promise<number> =>
  service.control.count({ status: 429 });
