import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { seed as chosen } from "../../../test/fakes/runtime/seed.ts";
import { settle, VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { Queue, type WorkItem } from "./queue.ts";

let clock: VirtualClock;
let queue: Queue;

beforeEach(() => {
  clock = new VirtualClock();
  queue = new Queue({ clock, random: () => 0.5, backoff: { base: 1, cap: 60 } });
});

/** Takes all keys that are ready, and ends the work on each at once. */
async function drain(): Promise<string[]> {
  const keys: string[] = [];
  for (let taken = await takeNow(); taken; taken = await takeNow()) {
    keys.push(taken.key);
    queue.done(taken.key);
  }
  return keys;
}

async function takeNow(): Promise<WorkItem | undefined> {
  if ([...queue.depth().values()].length === 0) return undefined;
  return queue.take();
}

describe("Queue", () => {
  it("hands out a key once, however often it was added", async () => {
    for (const key of ["a", "b", "a", "a"]) queue.add(key);
    expect(await drain()).toEqual(["a", "b"]);
  });

  it("hands a key out once more after its work, when it was added during the work", async () => {
    queue.add("a");
    await queue.take();
    queue.add("a");
    queue.add("a");
    const next = queue.take();
    let handedOut = false;
    next.then(() => {
      handedOut = true;
    });
    await settle();
    expect(handedOut).toBe(false);
    queue.done("a");
    expect((await next)?.key).toBe("a");
    queue.done("a");
    expect(queue.size).toBe(0);
  });

  it("hands out the highest priority first, and the oldest among equals", async () => {
    queue.add("low", { priority: -100 });
    queue.add("first");
    queue.add("second");
    queue.add("raised", { priority: -100 });
    queue.add("raised", { priority: 5 });
    expect(await drain()).toEqual(["raised", "first", "second", "low"]);
  });

  it("never lowers a priority", async () => {
    queue.add("a", { priority: 5 });
    queue.add("b", { priority: 1 });
    queue.add("a", { priority: -100 });
    expect(await drain()).toEqual(["a", "b"]);
  });

  it("keeps the earlier of two times", async () => {
    queue.add("a", { afterSeconds: 10 });
    queue.add("a", { afterSeconds: 5 });
    queue.add("a", { afterSeconds: 20 });
    await clock.advance(4_999);
    expect(await drain()).toEqual([]);
    await clock.advance(1);
    expect(await drain()).toEqual(["a"]);
    await clock.advance(60_000);
    expect(await drain()).toEqual([]);
  });

  it("puts a delayed key that becomes ready behind those that are", async () => {
    queue.add("a", { afterSeconds: 2 });
    await clock.advance(1_000);
    queue.add("b");
    await clock.advance(1_000);
    expect(await drain()).toEqual(["b", "a"]);
  });

  it("hands out a delayed key at once when it is added without a delay", async () => {
    queue.add("a", { afterSeconds: 10 });
    queue.add("a");
    expect(await drain()).toEqual(["a"]);
    expect(clock.pending).toBe(0);
  });

  it("holds a delayed key that becomes ready while it is being worked on", async () => {
    queue.add("a");
    await queue.take();
    queue.add("a", { afterSeconds: 1 });
    await clock.advance(5_000);
    expect(queue.depth().get(0)).toBe(1);
    queue.done("a");
    expect(await drain()).toEqual(["a"]);
  });

  it.each([
    [0, 2.5],
    [1, 3],
    [3, 6],
    [10, 32],
  ])(
    "retries after %i failures with exponential delay on top of the least one: %d seconds",
    async (failures, seconds) => {
      for (let failure = 0; failure < failures; failure += 1) {
        queue.retry("a");
        queue.add("a");
        await drain();
      }
      queue.retry("a", { atLeastSeconds: 2 });
      await clock.advance(seconds * 1000 - 1);
      expect(await drain()).toEqual([]);
      await clock.advance(1);
      expect(await drain()).toEqual(["a"]);
    },
  );

  it("starts with the first delay again after forget", async () => {
    queue.retry("a");
    queue.forget("a");
    expect(queue.failures("a")).toBe(0);
  });

  it.each(["ready", "delayed", "held"])("drops a key that is %s, with its failures and its timer", async (where) => {
    if (where === "held") {
      queue.add("a");
      await queue.take();
    }
    queue.retry("a", { atLeastSeconds: 5 });
    if (where !== "delayed") queue.add("a");
    queue.drop("a");
    expect([queue.size, queue.failures("a"), clock.pending, queue.depth().size]).toEqual([0, 0, 0, 0]);
    queue.done("a");
    expect(await drain()).toEqual([]);
  });

  it("reports how many keys are ready, by priority, and how long work has taken", async () => {
    queue.add("a");
    queue.add("b", { priority: -100 });
    queue.add("c", { afterSeconds: 5 });
    expect([...queue.depth()]).toEqual([
      [0, 1],
      [-100, 1],
    ]);
    await queue.take();
    await clock.advance(3_000);
    expect(queue.runningSeconds()).toEqual([3]);
  });

  it("hands out nothing after shutdown, ignores adds, and leaves no timer", async () => {
    const waiting = queue.take();
    queue.add("a", { afterSeconds: 5 });
    queue.shutdown();
    queue.add("b");
    queue.retry("c");
    expect(await waiting).toBeUndefined();
    expect(await queue.take()).toBeUndefined();
    expect(queue.size).toBe(0);
    expect(clock.pending).toBe(0);
  });
});

/** A simple model of the queue: a list that is searched at every step. */
class Model {
  readonly waiting = new Map<string, { priority: number; readyAt: number; order: number }>();
  readonly running = new Set<string>();
  order = 0;

  add(key: string, priority: number, readyAt: number, now: number): void {
    const known = this.waiting.get(key);
    const wasReady = known && known.readyAt <= now;
    const earliest = Math.min(known?.readyAt ?? readyAt, readyAt);
    const order = wasReady || (known && earliest > now) ? known.order : this.order++;
    this.waiting.set(key, { priority: Math.max(known?.priority ?? priority, priority), readyAt: earliest, order });
  }

  /** Keys that become ready go behind those that are ready. */
  pass(before: number, now: number): void {
    const due = [...this.waiting.values()].filter(({ readyAt }) => readyAt > before && readyAt <= now);
    for (const entry of due.sort((a, b) => a.readyAt - b.readyAt || a.order - b.order)) entry.order = this.order++;
  }

  take(now: number): string | undefined {
    const ready = [...this.waiting].filter(([key, { readyAt }]) => readyAt <= now && !this.running.has(key));
    const [next] = ready.sort(([, a], [, b]) => b.priority - a.priority || a.order - b.order);
    if (!next) return undefined;
    this.waiting.delete(next[0]);
    this.running.add(next[0]);
    return next[0];
  }
}

type Step =
  | { do: "add"; key: string; priority: number; afterSeconds: number }
  | { do: "take" }
  | { do: "done"; which: number }
  | { do: "drop"; key: string }
  | { do: "wait"; seconds: number };

const key = fc.constantFrom("a", "b", "c", "d", "e");
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("add" as const),
    key,
    priority: fc.constantFrom(-100, 0, 0, 10),
    afterSeconds: fc.constantFrom(0, 0, 0, 1, 2, 3),
  }),
  fc.constant({ do: "take" as const }),
  fc.record({ do: fc.constant("done" as const), which: fc.nat(4) }),
  fc.record({ do: fc.constant("drop" as const), key }),
  fc.record({ do: fc.constant("wait" as const), seconds: fc.integer({ min: 1, max: 3 }) }),
);

/** Runs one step on queue and model, and returns what each handed out. */
async function both(step: Step, real: Queue, model: Model, time: VirtualClock): Promise<[unknown, unknown]> {
  switch (step.do) {
    case "add":
      real.add(step.key, step);
      model.add(step.key, step.priority, time.now() + step.afterSeconds * 1000, time.now());
      return [undefined, undefined];
    case "take": {
      const expected = model.take(time.now());
      // a take from an empty queue would wait for the next key, which the model cannot do
      return [expected && (await real.take())?.key, expected];
    }
    case "done": {
      const chosen = [...model.running][step.which];
      if (chosen) real.done(chosen);
      if (chosen) model.running.delete(chosen);
      return [real.runningSeconds().length, model.running.size];
    }
    case "drop": {
      real.drop(step.key);
      model.waiting.delete(step.key);
      return [real.size, model.waiting.size];
    }
    case "wait": {
      const before = time.now();
      await time.advance(step.seconds * 1000);
      model.pass(before, time.now());
      return [real.size, model.waiting.size];
    }
  }
}

const seed = chosen();

it(`does what the model does, for any sequence of steps; CHAOS_SEED=${seed}`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 15, maxLength: 80 }), async (steps) => {
      const time = new VirtualClock();
      const real = new Queue({ clock: time });
      const model = new Model();
      for (const step of steps) {
        const [got, expected] = await both(step, real, model, time);
        expect(got).toEqual(expected);
      }
      real.shutdown();
      expect(time.pending).toBe(0);
    }),
    { seed, numRuns: 400 },
  );
});

it(`loses nothing and runs no key twice at once, with several workers; CHAOS_SEED=${seed}`, async () => {
  const work = fc.record({
    key,
    wait: fc.nat(3),
    afterSeconds: fc.nat(2),
    duration: fc.integer({ min: 1, max: 3000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(work, { minLength: 1, maxLength: 30 }), async (works) => {
      const time = new VirtualClock();
      const real = new Queue({ clock: time });
      const running = new Set<string>();
      const added = new Map<string, number>();
      const begun = new Map<string, number>();
      let durations = works.map(({ duration }) => duration);
      const worker = async () => {
        for (let taken = await real.take(); taken; taken = await real.take()) {
          const { key } = taken;
          expect(running.has(key)).toBe(false);
          running.add(key);
          begun.set(key, time.now());
          const [duration = 1, ...rest] = durations;
          durations = rest;
          await new Promise<void>((resolve) => time.setTimeout(resolve, duration));
          running.delete(key);
          real.done(key);
        }
      };
      const workers = [worker(), worker(), worker()];
      for (const { key, wait, afterSeconds } of works) {
        await time.advance(wait * 500);
        added.set(key, time.now());
        real.add(key, { afterSeconds });
      }
      await time.advance(200_000);
      real.shutdown();
      await Promise.all(workers);
      // work on a key began at or after its last add
      for (const [key, at] of added) expect(begun.get(key)).toBeGreaterThanOrEqual(at);
    }),
    { seed, numRuns: 50 },
  );
});
