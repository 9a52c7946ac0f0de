import fc from "fast-check";
import { expect, it } from "vitest";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { seed as chosen } from "../../../test/fakes/runtime/seed.ts";
import { settle, VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { Controller, type Request, type Result } from "./controller.ts";

const TIMEOUT_SECONDS = 20;

/** How one reconcile ends, and how long it takes. */
interface Fate {
  readonly seconds: number;
  readonly end: "done" | "throws" | "backs off" | "comes again" | "times out" | "ignores its time-out";
}

type Step =
  | { do: "change"; key: string; priority: number; afterSeconds: number }
  | { do: "delete"; key: string }
  | { do: "wait"; seconds: number };

const key = fc.constantFrom("ns/a", "ns/b", "ns/c");
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("change" as const),
      key,
      priority: fc.constantFrom(-100, -50, 0),
      afterSeconds: fc.constantFrom(0, 0, 0, 3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), key }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("wait" as const), seconds: fc.constantFrom(0, 1, 2, 30, 400) }) },
);
const fates: fc.Arbitrary<Fate> = fc.record({
  seconds: fc.constantFrom(0, 1, 5),
  end: fc.constantFrom("done", "throws", "backs off", "comes again", "times out", "ignores its time-out"),
});

/** Objects, each with a version, and the controller that reconciles them. */
class World {
  readonly clock = new VirtualClock();
  readonly controller: Controller;
  readonly faults: string[] = [];
  readonly #versions = new Map<string, number>();
  /** For each key: the version that the last reconcile saw, and whether it succeeded. */
  readonly #reconciled = new Map<string, { version: number | undefined; well: boolean }>();
  readonly #running = new Set<string>();
  readonly #stop = new AbortController();
  readonly runs = new Map<string, number>();
  #fates: Fate[];
  #version = 0;

  constructor(fates: readonly Fate[], { concurrency, random }: { concurrency: number; random: () => number }) {
    this.#fates = [...fates];
    this.controller = new Controller({
      name: "thing",
      reconcile: (request) => this.#reconcile(request),
      concurrency,
      random,
      clock: this.clock,
      log: recordingLogger(),
      timeoutSeconds: TIMEOUT_SECONDS,
      backoff: { base: 1, cap: 300 },
    });
    this.controller.start(this.#stop.signal);
  }

  async take(step: Step): Promise<void> {
    if (step.do === "wait") await this.clock.advance(step.seconds * 1000);
    else if (step.do === "delete") this.#delete(step.key);
    else this.change(step.key, step);
  }

  change(key: string, options = {}): void {
    this.#version += 1;
    this.#versions.set(key, this.#version);
    this.controller.enqueue(key, options);
  }

  #delete(key: string): void {
    this.#versions.delete(key);
    this.controller.drop(key);
  }

  /** From now on every reconcile succeeds, and no object changes. */
  async calmDown(): Promise<void> {
    this.#fates = [];
    await this.clock.advance(3_600_000);
  }

  get outdated(): string[] {
    return [...this.#versions]
      .filter(([key, version]) => this.#reconciled.get(key)?.version !== version || !this.#reconciled.get(key)?.well)
      .map(([key]) => key);
  }

  async end(): Promise<void> {
    await this.controller.drain();
    this.#stop.abort();
  }

  async #reconcile({ key, signal }: Request): Promise<Result> {
    if (this.#running.has(key)) this.faults.push(`${key} ran twice at once`);
    this.#running.add(key);
    this.runs.set(key, (this.runs.get(key) ?? 0) + 1);
    const version = this.#versions.get(key);
    const fate = this.#fates.shift() ?? { seconds: 0, end: "done" };
    try {
      const result = await this.#meet(fate, signal);
      this.#reconciled.set(key, { version, well: fate.end === "done" || fate.end === "comes again" });
      return result;
    } finally {
      this.#running.delete(key);
    }
  }

  async #meet({ seconds, end }: Fate, signal: AbortSignal): Promise<Result> {
    await this.#pause(seconds);
    switch (end) {
      case "done":
        return {};
      case "comes again":
        return { requeueAfterSeconds: 600 };
      case "backs off":
        return { backoff: true, atLeastSeconds: 2 };
      case "throws":
        throw new Error("A fault of the moment");
      case "times out":
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        throw signal.reason;
      case "ignores its time-out":
        await this.#pause(TIMEOUT_SECONDS + 7);
        throw signal.reason;
    }
  }

  #pause(seconds: number): Promise<void> {
    return new Promise((resolve) => this.clock.setTimeout(resolve, seconds * 1000));
  }
}

const seed = chosen();
const parameters = { seed, numRuns: 200 };
const random = fc.constantFrom(0, 0.3, 0.999).map((value) => () => value);
const setting = fc.record({ concurrency: fc.integer({ min: 1, max: 3 }), random });

it(`reconciles each key after its last change, never twice at once, whatever fails; CHAOS_SEED=${seed}`, async () => {
  const script = fc.tuple(fc.array(steps, { maxLength: 30 }), fc.array(fates, { maxLength: 40 }), setting);
  await fc.assert(
    fc.asyncProperty(script, async ([taken, ends, options]) => {
      const world = new World(ends, options);
      for (const step of taken) await world.take(step);
      await world.calmDown();
      expect(world.faults).toEqual([]);
      expect(world.outdated).toEqual([]);
      // nothing is left of a key that is done
      expect(world.controller.size).toBe(0);
      expect(world.clock.pending).toBe(0);
      await world.end();
    }),
    parameters,
  );
});

it(`runs a key exactly once more after any events during a run, however that ends; CHAOS_SEED=${seed}`, async () => {
  const delayed = fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(1, 5), delayed, setting, async (seconds, delays, options) => {
      const world = new World([{ seconds, end: "done" }], options);
      world.change("ns/a");
      await settle();
      for (const afterSeconds of delays) world.change("ns/a", { afterSeconds: Math.min(afterSeconds, seconds - 1) });
      await world.calmDown();
      expect(world.runs.get("ns/a")).toBe(2);
      expect(world.outdated).toEqual([]);
      await world.end();
    }),
    parameters,
  );
});
