import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { commands } from "../kinds/agent-command.ts";
import { type Course, session } from "./testing/fake-service.ts";
import { type Courses, FakeWorld, KEY, type WriteCourse } from "./testing/fake-world.ts";
import { CommandVisits } from "./visit.ts";

const courses: readonly Course[] = ["done", "done, answer lost", "not done, answer lost", "limited", "unsent"];
const writes: readonly WriteCourse[] = ["done", "done", "done", "done, answer lost", "not done"];

class Killed extends Error {}

const signal = new AbortController().signal;

/** One life of a process: how many steps it takes before it is killed, and what happens to it until then. */
const life = fc.record({
  steps: fc.nat(12),
  visits: fc.integer({ min: 1, max: 4 }),
  requests: fc.array(fc.constantFrom(...courses), { maxLength: 4 }),
  writes: fc.array(fc.constantFrom(...writes), { maxLength: 6 }),
  /** Whether it begins with what the process before knew. */
  passes: fc.nat(20),
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

function process(world: FakeWorld, options: Partial<Courses>) {
  const { world: seen, refresh } = world.process(options);
  const visits = new CommandVisits(seen);
  return { refresh, visit: () => visits.visit(KEY, signal) };
}

function taking<T>(list: readonly T[], otherwise: T): () => T {
  const left = list.values();
  return () => left.next().value ?? otherwise;
}

/** Visits until the command has finished, as an operator does that nothing happens to any more. */
async function finish(world: FakeWorld): Promise<void> {
  const last = process(world, {});
  for (let visits = 0; visits < 200 && !world.stored?.status?.completedAt; visits += 1) {
    last.refresh();
    await last.visit();
    world.pass(5);
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
    const got = world.service.received.filter((one) => one.id === id);
    if (phase === "Succeeded") expect(got.length).toBeGreaterThan(0);
  }
}

describe("whatever happens, a restart or stop is sent at most once to a session", () => {
  test("processes that are killed at any step, one after another", async () => {
    await fc.assert(
      fc.asyncProperty(situation, async ({ lives, ...given }) => {
        const world = worldOf(given);
        for (const { steps, visits, passes, ...events } of lives) {
          let left = steps;
          const one = process(world, {
            pause: async () => {
              if (left-- <= 0) throw new Killed();
            },
            request: taking(events.requests, "done"),
            write: taking(events.writes, "done"),
          });
          for (let visit = 0; visit < visits && left > 0; visit += 1) {
            await one.visit().catch(() => {});
            one.refresh();
            world.pass(passes);
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

  test("two processes at the same time, neither of which knows of the other", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), situation, async (scheduler, given) => {
        const world = worldOf(given);
        const pause = (what: string) => scheduler.schedule(Promise.resolve(), what);
        const both = [process(world, { pause }), process(world, { pause })];
        const working = both.map(async ({ visit, refresh }) => {
          for (let visits = 0; visits < 6; visits += 1) {
            await visit();
            // the watch may tell late
            if (visits % 2 === 1) refresh();
            world.pass(7);
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
