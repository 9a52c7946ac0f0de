import { getEventListeners } from "node:events";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { settle, VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import { type Lane, lanes, RequestBudget } from "./request-budget.ts";

let clock: VirtualClock;

beforeEach(() => {
  clock = new VirtualClock();
});

/** `ask` acquires one request; `passed` lists those that were let through, with their times. */
function requester(budget: RequestBudget) {
  const passed: { name: string; at: number }[] = [];
  const ask = (name: string, lane: Lane = "edit", signal?: AbortSignal) =>
    budget.acquire(lane, signal).then(() => {
      passed.push({ name, at: clock.now() });
    });
  return { passed, ask, names: () => passed.map(({ name }) => name) };
}

async function askFor(ask: (name: string) => Promise<void>, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) void ask(String(index));
  await settle();
}

describe("a budget of 60 requests a minute", () => {
  let budget: RequestBudget;

  beforeEach(() => {
    budget = new RequestBudget({ perMinute: 60, clock });
  });

  it("lets a fifth of a minute's requests through at once, and then one a second", async () => {
    const { passed, ask } = requester(budget);
    await askFor(ask, 15);
    expect(passed).toHaveLength(12);
    await clock.advance(3000);
    expect(passed.slice(12).map(({ at }) => at)).toEqual([1000, 2000, 3000]);
  });

  it("saves up no more than the burst while it is idle", async () => {
    const { passed, ask } = requester(budget);
    await clock.advance(3_600_000);
    await askFor(ask, 20);
    expect(passed).toHaveLength(12);
  });

  it("lets edits pass before retries, and retries before resyncs", async () => {
    const { names, ask } = requester(budget);
    await askFor(ask, 12);
    void ask("sync", "sync");
    void ask("retry", "retry");
    void ask("edit", "edit");
    void ask("edit 2", "edit");
    await clock.advance(4000);
    expect(names().slice(12)).toEqual(["edit", "edit 2", "retry", "sync"]);
  });

  const tenth = (lane: Lane, passed: readonly { name: string }[]) => {
    for (let from = 0; from + 10 <= passed.length; from += 1) {
      const some = passed.slice(from, from + 10).filter(({ name }) => name === lane);
      expect(some.length, `${lane} from ${from}`).toBeGreaterThanOrEqual(1);
    }
  };

  it("gives a tenth to each lane while all are full", async () => {
    const { passed, ask } = requester(budget);
    await askFor(ask, 12);
    for (const lane of lanes) for (let count = 0; count < 100; count += 1) void ask(lane, lane);
    await clock.advance(60_000);
    const after = passed.slice(12);
    expect(after).toHaveLength(60);
    for (const lane of lanes) tenth(lane, after);
    expect(after.filter(({ name }) => name === "edit").length).toBeGreaterThanOrEqual(45);
  });

  it("sends a request of a lane after eight requests of others", async () => {
    const { names, ask } = requester(budget);
    await askFor(ask, 12);
    for (let count = 0; count < 2; count += 1) void ask("sync", "sync");
    for (let count = 0; count < 20; count += 1) void ask("edit", "edit");
    await clock.advance(22_000);
    const passed = names().slice(12);
    expect([passed.indexOf("sync"), passed.lastIndexOf("sync")]).toEqual([8, 17]);
  });

  it("gives a tenth to resyncs, whatever other requests come and when", async () => {
    const step = fc.record({ lane: fc.constantFrom("edit", "retry"), count: fc.nat(6), ms: fc.nat(2500) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 100 }), async (steps) => {
        clock = new VirtualClock();
        budget = new RequestBudget({ perMinute: 60, clock });
        const { passed, ask } = requester(budget);
        await askFor(ask, 12);
        for (let count = 0; count < 300; count += 1) void ask("sync", "sync");
        for (const { lane, count, ms } of steps) {
          for (let index = 0; index < count; index += 1) void ask(lane, lane as Lane);
          await clock.advance(ms);
        }
        tenth("sync", passed.slice(12));
      }),
    );
  });

  it("keeps the order within a lane, even when a token is there", async () => {
    const { names, ask } = requester(budget);
    await askFor(ask, 12);
    void ask("first", "retry");
    // the token is there, but the timer that gives it to the first has not fired yet
    clock.setTimeout(() => void ask("second", "retry"), 999.5);
    await clock.advance(2001);
    expect(names().slice(12)).toEqual(["first", "second"]);
  });

  it("leaves a token to a lane that was passed over for too long, even when an edit comes earlier", async () => {
    const { names, ask } = requester(budget);
    await askFor(ask, 12);
    let isTaken: boolean | undefined;
    // This timer was set before that of the budget, so it fires first.
    clock.setTimeout(() => {
      isTaken = budget.tryAcquire("edit");
    }, 9000);
    void ask("sync", "sync");
    for (let count = 0; count < 8; count += 1) void ask("edit");
    await clock.advance(9000);
    expect(isTaken).toBe(false);
    expect(names().at(-1)).toBe("sync");
  });

  it("takes no token for an aborted request, and lets the next one pass", async () => {
    const { names, ask } = requester(budget);
    await askFor(ask, 12);
    const abort = new AbortController();
    const aborted = ask("aborted", "edit", abort.signal);
    void ask("next");
    const reason = new Error("stopped");
    abort.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    await clock.advance(1000);
    expect(names().slice(12)).toEqual(["next"]);
  });

  it("makes nobody wait for a lane whose requests were aborted, however often it was passed over", async () => {
    const { passed, ask } = requester(budget);
    await askFor(ask, 12);
    const abort = new AbortController();
    const aborted = ask("sync", "sync", abort.signal);
    for (let count = 0; count < 8; count += 1) void ask("edit");
    await clock.advance(8000);
    abort.abort(new Error("stopped"));
    await expect(aborted).rejects.toThrow("stopped");
    await clock.advance(1000);
    expect(passed).toHaveLength(20);
    expect(budget.tryAcquire("edit")).toBe(true);
  });

  it("rejects a request whose signal is aborted already", async () => {
    const reason = new Error("stopped");
    await expect(budget.acquire("edit", AbortSignal.abort(reason))).rejects.toBe(reason);
    const { passed, ask } = requester(budget);
    await askFor(ask, 12);
    expect(passed).toHaveLength(12);
  });

  it("keeps no timer when nobody waits", async () => {
    const { ask } = requester(budget);
    await askFor(ask, 13);
    await clock.advance(2000);
    expect(clock.pending).toBe(0);
  });

  describe("after a 429", () => {
    it("sends nothing before Retry-After has passed", async () => {
      const { passed, ask } = requester(budget);
      budget.pauseAfter429(30);
      await askFor(ask, 1);
      await clock.advance(29_999);
      expect(passed).toEqual([]);
      await clock.advance(1);
      expect(passed).toHaveLength(1);
    });

    it("sends nothing for a second when there is no Retry-After", async () => {
      const { passed, ask } = requester(budget);
      budget.pauseAfter429();
      await askFor(ask, 1);
      await clock.advance(999);
      expect(passed).toEqual([]);
      await clock.advance(1);
      expect(passed).toHaveLength(1);
    });

    it("makes requests that wait already wait longer", async () => {
      const { passed, ask } = requester(budget);
      await askFor(ask, 13);
      budget.pauseAfter429(30);
      await clock.advance(29_999);
      expect(passed).toHaveLength(12);
      await clock.advance(1000);
      expect(passed).toHaveLength(13);
    });

    it("keeps the longest pause of several", async () => {
      const { passed, ask } = requester(budget);
      budget.pauseAfter429(30);
      budget.pauseAfter429(1);
      await askFor(ask, 1);
      await clock.advance(29_999);
      expect(passed).toEqual([]);
    });

    it("slows down once for the answers to requests that were under way together", async () => {
      const passedInAMinute = async (answers: number) => {
        clock = new VirtualClock();
        const limited = new RequestBudget({ perMinute: 60, clock });
        const { passed, ask } = requester(limited);
        await askFor(ask, 12);
        for (let count = 0; count < answers; count += 1) limited.pauseAfter429(5);
        await askFor(ask, 100);
        await clock.advance(65_000);
        return passed.length - 12;
      };
      expect(await passedInAMinute(12)).toBe(await passedInAMinute(1));
    });

    it("slows down again for a 429 after the pause", async () => {
      const { passed, ask } = requester(budget);
      await askFor(ask, 12);
      budget.pauseAfter429(1);
      await clock.advance(1000);
      budget.pauseAfter429(1);
      await askFor(ask, 100);
      await clock.advance(61_000);
      expect(passed.length - 12).toBeLessThan(36);
    });

    it("sends again after ten minutes, however long Retry-After is", async () => {
      const { passed, ask } = requester(budget);
      budget.pauseAfter429(86_400);
      await askFor(ask, 3);
      await clock.advance(599_999);
      expect(passed).toEqual([]);
      await clock.advance(1);
      expect(passed).toHaveLength(1);
    });

    it("goes on more slowly, and is back at the full rate after minutes", async () => {
      const { passed, ask } = requester(budget);
      await askFor(ask, 12);
      budget.pauseAfter429(1);
      await askFor(ask, 200);
      await clock.advance(61_000);
      const firstMinute = passed.length - 12;
      expect(firstMinute).toBeGreaterThan(35);
      expect(firstMinute).toBeLessThan(50);
      await clock.advance(180_000);
      const before = passed.length;
      await askFor(ask, 100);
      await clock.advance(60_000);
      expect(passed.length - before).toBeGreaterThanOrEqual(59);
    });

    it("goes on more slowly also when it was idle for long", async () => {
      const { passed, ask } = requester(budget);
      await clock.advance(3_600_000);
      budget.pauseAfter429(1);
      await askFor(ask, 200);
      await clock.advance(61_000);
      expect(passed.length).toBeGreaterThan(35);
      expect(passed.length).toBeLessThan(50);
    });

    it("sends a request that waits as soon as the pause is over, although its turn was later", async () => {
      budget = new RequestBudget({ perMinute: 1, clock });
      const { passed, ask } = requester(budget);
      await askFor(ask, 2);
      budget.pauseAfter429(5);
      await clock.advance(5000);
      expect(passed.map(({ at }) => at)).toEqual([0, 5000]);
    });

    it("sends one request first, also when requests from before it were not sent", async () => {
      const { passed, ask } = requester(budget);
      await askFor(ask, 12);
      budget.pauseAfter429(30);
      for (let count = 0; count < 11; count += 1) budget.refund();
      await askFor(ask, 30);
      await clock.advance(30_000);
      expect(passed).toHaveLength(13);
    });

    it("never stops altogether, however many follow", async () => {
      const { passed, ask } = requester(budget);
      for (let times = 0; times < 50; times += 1) {
        budget.pauseAfter429(1);
        await clock.advance(1000);
      }
      await askFor(ask, 5);
      await clock.advance(60_000);
      expect(passed.length).toBeGreaterThanOrEqual(5);
    });
  });
});

describe("a budget of 0", () => {
  it("is no limit", async () => {
    const { passed, ask } = requester(new RequestBudget({ perMinute: 0, clock }));
    await askFor(ask, 1000);
    expect(passed).toHaveLength(1000);
  });

  it("still pauses after a 429", async () => {
    const budget = new RequestBudget({ perMinute: 0, clock });
    const { passed, ask } = requester(budget);
    budget.pauseAfter429(5);
    await askFor(ask, 3);
    expect(passed).toEqual([]);
    await clock.advance(5000);
    expect(passed).toHaveLength(3);
  });
});

describe("a budget of any size", () => {
  it("reports each request that it lets through, with its lane and the seconds that it waited", async () => {
    const turns: [Lane, number][] = [];
    const budget = new RequestBudget({ perMinute: 5, clock, onTurn: (lane, seconds) => turns.push([lane, seconds]) });
    await budget.acquire("edit");
    void budget.acquire("sync");
    await clock.advance(12_000);
    expect(turns).toEqual([
      ["edit", 0],
      ["sync", 12],
    ]);
  });

  it("lets no more through in any minute than a minute's requests and the burst, and lets all through in the end", async () => {
    const requests = fc.array(fc.record({ wait: fc.integer({ min: 0, max: 5000 }), lane: fc.constantFrom(...lanes) }), {
      minLength: 1,
      maxLength: 60,
      size: "max",
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 120 }), requests, async (perMinute, asked) => {
        clock = new VirtualClock();
        const { passed, ask } = requester(new RequestBudget({ perMinute, clock }));
        for (const [index, { wait, lane }] of asked.entries()) {
          clock.setTimeout(() => void ask(String(index), lane), wait * index);
        }
        await clock.advance(5000 * asked.length + 60_000 * (asked.length / perMinute + 1));
        expect(passed).toHaveLength(asked.length);
        const burst = Math.max(1, Math.floor(perMinute / 5));
        for (const [index, { at }] of passed.entries()) {
          const inMinute = passed.slice(index).filter((other) => other.at < at + 60_000).length;
          expect(inMinute).toBeLessThanOrEqual(perMinute + burst);
        }
      }),
      { numRuns: 15 },
    );
  });
});

describe("a token that is given back", () => {
  it("lets the next request pass at once", async () => {
    const budget = new RequestBudget({ perMinute: 60, clock });
    const { names, ask } = requester(budget);
    await askFor(ask, 13);
    budget.refund();
    await settle();
    expect(names()).toHaveLength(13);
  });

  it("does not make the burst larger", async () => {
    const budget = new RequestBudget({ perMinute: 60, clock });
    budget.refund();
    const { passed, ask } = requester(budget);
    await askFor(ask, 20);
    expect(passed).toHaveLength(12);
  });
});

describe("a budget that is shut down", () => {
  it("rejects requests that wait or would have to, and lets the others through", async () => {
    const budget = new RequestBudget({ perMinute: 10, clock });
    const { ask, names } = requester(budget);
    await ask("first");
    await ask("second");
    const waiting = ask("waiting");
    budget.shutDown();
    await expect(waiting).rejects.toThrow(Outdated);
    await expect(ask("later")).rejects.toThrow(Outdated);
    expect(clock.pending).toBe(0);
    await clock.advance(60_000);
    await ask("after its turn");
    expect(names()).toEqual(["first", "second", "after its turn"]);
  });
});

it.each<[string, (signal: AbortSignal, budget: RequestBudget) => Promise<unknown>]>([
  [
    "is let through",
    async (signal, budget) => {
      const passed = budget.acquire("edit", signal);
      await clock.advance(1000);
      await passed;
    },
  ],
  [
    "is rejected",
    async (signal, budget) => {
      const rejected = budget.acquire("edit", signal);
      budget.shutDown();
      await expect(rejected).rejects.toThrow(Outdated);
    },
  ],
])("a request that %s leaves nothing at its signal, which may live as long as the process", async (_, ends) => {
  const budget = new RequestBudget({ perMinute: 60, clock });
  await askFor(requester(budget).ask, 12);
  const { signal } = new AbortController();
  await ends(signal, budget);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
