import type { KubeObject } from "../../../src/runtime/object.ts";
import { isReady, nameOf } from "../../shared/objects.ts";
import type { Phase } from "../arguments.ts";
import type { Figures } from "../figures.ts";
import type { Subject } from "../objects.ts";
import { figuresOf, readingOf } from "../reading.ts";
import { type Stage, WRITERS } from "../stage.ts";
import { preciseNow } from "../watcher.ts";
import { concurrently } from "./concurrently.ts";

/** Changes every spec while the operator runs, as fast as the API server allows. */
export function update(stage: Stage, subjects: readonly Subject[]): Promise<Figures> {
  const isUpdated = (object: KubeObject | undefined) => isReady(object) && (object?.metadata.generation ?? 0) > 1;
  return changed(stage, "update", subjects, isUpdated, ({ type, object }) =>
    stage.client.patchMerge(type, object.metadata, { spec: { description: "Changed" } }),
  );
}

export function deleteAll(stage: Stage, subjects: readonly Subject[]): Promise<Figures> {
  return changed(
    stage,
    "delete",
    subjects,
    (object) => object === undefined,
    ({ type, object }) => stage.client.delete(type, object.metadata),
  );
}

async function changed(
  stage: Stage,
  phase: Phase,
  subjects: readonly Subject[],
  isDone: (object: KubeObject | undefined) => boolean,
  change: (subject: Subject) => Promise<unknown>,
): Promise<Figures> {
  const done = stage.watcher.until(subjects, isDone);
  const sent = new Map<string, number>();
  const before = await readingOf(stage);
  await concurrently(subjects, WRITERS, (subject) => {
    sent.set(nameOf(subject.object), preciseNow());
    return change(subject);
  });
  const times = await done;
  const after = await readingOf(stage);
  await stage.quiet();
  const { requests, writes } = await readingOf(stage);
  return figuresOf(stage, {
    phase,
    objects: subjects.length,
    before,
    after: { ...after, requests, writes },
    wallSeconds: (Math.max(...times.values()) - before.at) / 1000,
    took: [...times].map(([name, at]) => at - (sent.get(name) as number)),
  });
}
