import { setTimeout as sleep } from "node:timers/promises";
import { isReady, nameOf } from "../../shared/objects.ts";
import { type Figures, percentile } from "../figures.ts";
import { startFollower } from "../floor.ts";
import type { Subject } from "../objects.ts";
import { figuresOf, readingOf } from "../reading.ts";
import type { Stage } from "../stage.ts";
import { preciseNow } from "../watcher.ts";

const PER_SECOND = 20;

/**
 * Applies one object after another, and measures for each how long it takes to become Ready. Before that, measures a
 * plain client in the same way, which only watches the objects and makes the necessary writes.
 */
export async function trickle(stage: Stage, seconds: number, options: { floor: boolean }): Promise<Figures> {
  const floor = options.floor ? await floorOf(stage, seconds) : undefined;
  await stage.startOperator();
  await stage.quiet();

  const made = applied(stage, seconds, "trickle");
  const before = await readingOf(stage);
  const { took, answered } = await timed(stage, made);
  // a watch may show the last write before its answer has come, which is when it is counted
  await stage.quiet();
  const after = await readingOf(stage);
  const figures = await figuresOf(stage, {
    phase: "trickle",
    objects: made.length,
    before,
    after,
    took,
    more: {
      ...(floor && { ...floor, floorRatio: (percentile(took, 0.5) as number) / floor.floorP50 }),
      applyAnswered: percentile(answered, 0.5) as number,
    },
  });
  const gone = stage.watcher.until(made, (object) => object === undefined);
  await Promise.all(made.map(({ type, object }) => stage.client.delete(type, object.metadata)));
  await gone;
  return figures;
}

async function floorOf(stage: Stage, seconds: number): Promise<{ floorP50: number; floorP99: number }> {
  const { namespace, service, settings } = stage;
  await stage.stopOperator();
  const { url, apiKey } = service;
  const { kubeconfig } = settings.cluster;
  const follower = await startFollower({ kubeconfig, namespace, service: { url, apiKey } });
  const made = applied(stage, seconds, "floor");
  const { took } = await timed(stage, made);
  await follower.stop();
  await stage.removeAll(made);
  return { floorP50: percentile(took, 0.5) as number, floorP99: percentile(took, 0.99) as number };
}

const applied = (stage: Stage, seconds: number, prefix: string): Subject[] =>
  stage.subjects(seconds * PER_SECOND, `${stage.namespace}-${prefix}`).map(({ type, object }) => ({
    type,
    object: { ...object, metadata: { namespace: stage.namespace, name: `${prefix}-${object.metadata.name}` } },
  }));

/** The milliseconds from each apply until the object was Ready, and until the apply was answered. */
async function timed(stage: Stage, made: readonly Subject[]): Promise<{ took: number[]; answered: number[] }> {
  const ready = stage.watcher.until(made, isReady);
  const sent = new Map<string, number>();
  const answered: number[] = [];
  const begun = preciseNow();
  const applies = made.map(async (subject, index) => {
    await sleep(Math.max(begun + (index * 1000) / PER_SECOND - preciseNow(), 0));
    const at = preciseNow();
    sent.set(nameOf(subject.object), at);
    await stage.client.apply(subject.type, subject.object);
    answered.push(preciseNow() - at);
  });
  await Promise.all(applies);
  const times = await ready;
  return { answered, took: [...times].map(([name, at]) => at - (sent.get(name) as number)) };
}
