import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type RequestOutcome, session } from "../../test/fakes/sessions/fake-service.ts";
import { FakeWorld, KEY, type ProcessOptions, type WriteOutcome } from "../../test/fakes/sessions/fake-world.ts";
import { commands } from "../kinds/agent-command.ts";
import { CommandReconciler } from "./command-reconciler.ts";

const requestOutcomes: readonly RequestOutcome[] = [
  "done",
  "done, answer lost",
  "not done, answer lost",
  "limited",
  "unsent",
];
const writeOutcomes: readonly WriteOutcome[] = ["done", "done", "done", "done, answer lost", "not done"];

class Killed extends Error {}

const signal = new AbortController().signal;

/** The life of one process: how many steps it makes until it is killed, and what happens to its requests and writes. */
const life = fc.record({
  steps: fc.nat(12),
  reconciles: fc.integer({ min: 1, max: 4 }),
  requests: fc.array(fc.constantFrom(...requestOutcomes), { maxLength: 4 }),
  writes: fc.array(fc.constantFrom(...writeOutcomes), { maxLength: 6 }),
  /** Seconds between two reconciles. */
  pauseSeconds: fc.nat(20),
});

const situation = fc.record({
  command: fc.constantFrom(...commands),
  maxConcurrent: fc.integer({ min: 1, max: 3 }),
  sessions: fc.integer({ min: 1, max: 4 }),
  lives: fc.array(life, { maxLength: 6 }),
});

const worldOf = ({
  command,
  maxConcurrent,
  sessions,
}: {
  command: (typeof commands)[number];
  maxConcurrent: number;
  sessions: number;
}) =>
  new FakeWorld(
    { command, maxConcurrent, selector: { matchLabels: { "tunnelgateway.dev/region": "eu" } } },
    Array.from({ length: sessions }, (_, at) => session(`ts_${at}`, { ip: `203.0.113.${at}` })),
  );

function process(world: FakeWorld, options: Partial<ProcessOptions>) {
  const { options: reconcilerOptions, refresh } = world.process(options);
  const reconciler = new CommandReconciler(reconcilerOptions);
  return { refresh, reconcile: () => reconciler.reconcile(KEY, signal) };
}

function nextOf<T>(list: readonly T[], otherwise: T): () => T {
  const left = list.values();
  return () => left.next().value ?? otherwise;
}

/** Reconciles without further faults until the command has finished. */
async function finish(world: FakeWorld): Promise<void> {
  const last = process(world, {});
  for (let reconciles = 0; reconciles < 200 && !world.stored?.status?.completedAt; reconciles += 1) {
    last.refresh();
    await last.reconcile();
    world.advance(5);
  }
}

function expectAtMostOnce(world: FakeWorld): void {
  const keys = world.service.received
    .filter(({ request }) => request !== "update")
    .map((one) => `${one.request} ${one.id}`);
  expect(keys).toEqual([...new Set(keys)]);
}

function expectWaits(world: FakeWorld): void {
  for (const restart of world.service.received.filter(({ request }) => request === "restart")) {
    const [update] = world.service.received.filter(({ request, id }) => request === "update" && id === restart.id);
    if (update) expect(restart.at - update.at).toBeGreaterThanOrEqual(10_000);
  }
}

function expectResults(world: FakeWorld): void {
  for (const { id, phase } of world.stored?.status?.sessions ?? []) {
    expect(["Succeeded", "Skipped", "Failed", "Unknown"]).toContain(phase);
    const received = world.service.received.filter((one) => one.id === id);
    if (phase === "Succeeded") expect(received.length).toBeGreaterThan(0);
  }
}

describe("a restart or stop is sent at most once to a session", () => {
  test("when processes are killed at any step, one after another", async () => {
    await fc.assert(
      fc.asyncProperty(situation, async ({ lives, ...given }) => {
        const world = worldOf(given);
        for (const { steps, reconciles, pauseSeconds, ...events } of lives) {
          let stepsLeft = steps;
          const one = process(world, {
            pause: async () => {
              if (stepsLeft-- <= 0) throw new Killed();
            },
            request: nextOf(events.requests, "done"),
            write: nextOf(events.writes, "done"),
          });
          for (let times = 0; times < reconciles && stepsLeft > 0; times += 1) {
            await one.reconcile().catch(() => {});
            one.refresh();
            world.advance(pauseSeconds);
          }
        }
        await finish(world);
        expect(world.stored?.status?.completedAt).toBeDefined();
        expectAtMostOnce(world);
        expectWaits(world);
        expectResults(world);
      }),
      { numRuns: 1500 },
    );
  });

  test("when two processes work at the same time", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), situation, async (scheduler, given) => {
        const world = worldOf(given);
        const pause = (what: string) => scheduler.schedule(Promise.resolve(), what);
        const both = [process(world, { pause }), process(world, { pause })];
        const working = both.map(async ({ reconcile, refresh }) => {
          for (let reconciles = 0; reconciles < 6; reconciles += 1) {
            await reconcile();
            // the watch may be late
            if (reconciles % 2 === 1) refresh();
            world.advance(7);
          }
        });
        await scheduler.waitFor(Promise.all(working));
        await finish(world);
        expect(world.stored?.status?.completedAt).toBeDefined();
        expectAtMostOnce(world);
        expectWaits(world);
      }),
      { numRuns: 500 },
    );
  });
});
