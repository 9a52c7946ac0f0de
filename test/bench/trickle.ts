import { setTimeout as sleep } from "node:timers/promises";
import type { Figures } from "./figures.ts";
import { nameOf, subjects } from "./objects.ts";
import { figuresOf, readingOf } from "./reading.ts";
import type { Stage } from "./stage.ts";
import { isReady, preciseNow } from "./watcher.ts";

const PER_SECOND = 20;

/** One object after another, as people and pipelines apply them: how long until each is Ready, from its apply on. */
export async function trickle(stage: Stage, seconds: number): Promise<Figures> {
  const made = subjects(seconds * PER_SECOND, `${stage.namespace}-trickle`).map(({ type, object }) => ({
    type,
    object: { ...object, metadata: { namespace: stage.namespace, name: `trickle-${object.metadata.name}` } },
  }));
  const ready = stage.watcher.until(made, isReady);
  const sent = new Map<string, number>();
  const answered: number[] = [];
  const before = await readingOf(stage);

  const applies = made.map(async (subject, index) => {
    await sleep(Math.max(before.at + (index * 1000) / PER_SECOND - preciseNow(), 0));
    const at = preciseNow();
    sent.set(nameOf(subject), at);
    await stage.client.apply(subject.type, subject.object);
    answered.push(preciseNow() - at);
  });
  await Promise.all(applies);
  const times = await ready;
  const after = await readingOf(stage);
  const took = [...times].map(([name, at]) => at - (sent.get(name) as number));
  const figures = await figuresOf(stage, {
    ...{ phase: "trickle", objects: made.length, before, after, took },
    more: { applyAnswered: answered.toSorted((a, b) => a - b)[Math.floor(answered.length / 2)] },
  });
  const gone = stage.watcher.until(made, (object) => object === undefined);
  await Promise.all(made.map(({ type, object }) => stage.client.delete(type, object.metadata)));
  await gone;
  return figures;
}
