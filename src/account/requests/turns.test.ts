import { getEventListeners } from "node:events";
import { beforeEach, describe, expect, it } from "vitest";
import { recordsOf } from "../../../test/fakes/account/records.ts";
import { settle, VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { Outdated, Postponed } from "../../objects/reconcile-error.ts";
import { type Lane, RequestBudget } from "./request-budget.ts";
import { Turn, waitFor } from "./turn.ts";
import { Turns } from "./turns.ts";

const signal = new AbortController().signal;
let clock: VirtualClock;
let budget: RequestBudget;
let turns: Turns;
let recordOf: ReturnType<typeof recordsOf>;

/** One request a second, after a burst of 12. */
beforeEach(() => {
  clock = new VirtualClock();
  budget = new RequestBudget({ perMinute: 60, clock });
  turns = new Turns(budget, clock);
  recordOf = recordsOf(clock);
});

async function useBurst(): Promise<void> {
  for (let count = 0; count < 12; count += 1) await budget.acquire("edit");
}

/** The first request of a reconcile: what becomes of it in a second and a half. */
async function attempt(uid: string, lane: Lane = "edit") {
  const turn = new Turn(recordOf(uid), clock);
  const outcome = turns.acquire({ turn, lane, signal }).then(
    () => "sent" as const,
    (error: unknown) => error as Postponed,
  );
  await clock.advance(1500);
  return { turn, outcome: await outcome };
}

async function postponed(uid: string, lane: Lane = "edit"): Promise<{ isOver: () => boolean }> {
  const { outcome, turn } = await attempt(uid, lane);
  expect(outcome).toBeInstanceOf(Postponed);
  const { until } = outcome as Postponed;
  turns.pause(turn, until);
  let over = false;
  void until.then(
    () => {
      over = true;
    },
    () => undefined,
  );
  return { isOver: () => over };
}

/** How many requests could be sent at once. */
function tokens(): number {
  let count = 0;
  while (budget.tryAcquire("edit")) count += 1;
  return count;
}

describe("a reconcile that would have to wait for its first request", () => {
  it("waits for a second, since its turn may come within that time", async () => {
    await useBurst();
    expect(await attempt("a")).toMatchObject({ outcome: "sent" });
  });

  it("is postponed after that, keeps its place, and sends at once when its turn comes", async () => {
    budget.pauseAfter429(60);
    const { isOver } = await postponed("a");
    await clock.advance(58_000);
    expect(isOver()).toBe(false);
    await clock.advance(1000);
    expect(isOver()).toBe(true);
    expect(recordOf("a").place).toBeDefined();
    await turns.acquire({ turn: new Turn(recordOf("a"), clock), lane: "edit", signal });
    expect(recordOf("a").place).toBeUndefined();
    // A timer that is left would end the next place of the object.
    expect(clock.pending).toBe(0);
  });

  it("is postponed again, in the same place, when an event triggers it earlier", async () => {
    budget.pauseAfter429(60);
    const first = await postponed("a");
    const other = await postponed("b");
    await postponed("a");
    await clock.advance(56_000);
    expect([first.isOver(), other.isOver()]).toEqual([true, false]);
  });

  it("moves to an earlier lane after an edit", async () => {
    budget.pauseAfter429(60);
    const before = await postponed("other", "retry");
    await postponed("a", "sync");
    const edited = await postponed("a", "edit");
    await clock.advance(56_000);
    expect([before.isOver(), edited.isOver()]).toEqual([false, true]);
    expect(recordOf("a").place).toBeDefined();
  });

  it("sends at once after an edit when its turn had come before", async () => {
    budget.pauseAfter429(2);
    const { isOver } = await postponed("a", "sync");
    await clock.advance(500);
    expect(isOver()).toBe(true);
    void budget.acquire("edit");
    let isSent = false;
    void turns.acquire({ turn: new Turn(recordOf("a"), clock), lane: "edit", signal }).then(() => {
      isSent = true;
    });
    await settle();
    expect(isSent).toBe(true);
  });

  it("sends nothing when another pause has begun since its turn came", async () => {
    budget.pauseAfter429(10);
    const { isOver } = await postponed("a");
    await clock.advance(9000);
    expect(isOver()).toBe(true);
    budget.pauseAfter429(60);
    await postponed("a");
  });

  it("rejects when it is aborted in its worker, and leaves no timer", async () => {
    budget.pauseAfter429(60);
    const abort = new AbortController();
    const acquired = turns.acquire({ turn: new Turn(recordOf("a"), clock), lane: "edit", signal: abort.signal });
    abort.abort(new Error("stopped"));
    await expect(acquired).rejects.toThrow("stopped");
    recordOf("a").place?.leave();
    await clock.advance(60_000);
    expect(clock.pending).toBe(0);
  });
});

describe("a place in the line for the budget", () => {
  it("is given up when the object is gone, or needs no request any more", async () => {
    budget.pauseAfter429(60);
    await postponed("gone");
    await postponed("ended");
    const last = await postponed("last");
    recordOf("gone").place?.leave();
    turns.end(new Turn(recordOf("ended"), clock));
    await clock.advance(57_000);
    expect(last.isOver()).toBe(true);
  });

  it("costs no request when it was granted and is not used", async () => {
    budget.pauseAfter429(2);
    await postponed("a");
    await clock.advance(500);
    expect(tokens()).toBe(0);
    recordOf("a").place?.leave();
    expect(tokens()).toBe(1);
  });

  it("expires when it was granted and no reconcile comes", async () => {
    budget.pauseAfter429(2);
    await postponed("a");
    await clock.advance(62_000);
    expect(recordOf("a").place).toBeUndefined();
  });

  it("is not kept for so long that more requests than two bursts could be sent at once", async () => {
    await useBurst();
    const objects = Array.from({ length: 100 }, (_, index) => `uid-${index}`);
    const ask = (uid: string) => turns.acquire({ turn: new Turn(recordOf(uid), clock), lane: "edit", signal });
    for (const uid of objects) ask(uid).catch(() => undefined);
    // All workers wait for a service that hangs. Then the reconciles of these objects run.
    await clock.advance(59_000);
    let sent = 0;
    for (const uid of objects)
      void ask(uid).then(
        () => {
          sent += 1;
        },
        () => undefined,
      );
    await clock.advance(0);
    expect(sent).toBeLessThanOrEqual(24);
  });

  it("that was given up leaves no timer, which would end the next place of the object", async () => {
    budget.pauseAfter429(2);
    await postponed("a");
    await clock.advance(500);
    expect(recordOf("a").place).toBeDefined();
    recordOf("a").place?.leave();
    expect(clock.pending).toBe(0);
  });
});

describe("a reconcile that has sent a request", () => {
  const begun = async () => {
    const turn = new Turn(recordOf("a"), clock);
    await turns.acquire({ turn, lane: "sync", signal });
    return turn;
  };

  it("sends the next request before all others, so that it ends soon", async () => {
    const turn = await begun();
    for (let count = 0; count < 11; count += 1) await budget.acquire("edit");
    const order: string[] = [];
    void budget.acquire("edit").then(() => order.push("edit"));
    void turns.acquire({ turn, lane: "sync", signal }).then(() => order.push("begun"));
    await clock.advance(2000);
    expect(order).toEqual(["begun", "edit"]);
  });

  it("waits in its worker for longer than a second", async () => {
    const turn = await begun();
    for (let count = 0; count < 11; count += 1) await budget.acquire("edit");
    const others = [1, 2, 3].map(() => budget.acquire("sync", undefined, "begun"));
    const next = turns.acquire({ turn, lane: "sync", signal });
    await clock.advance(4000);
    await Promise.all([...others, next]);
  });

  it("goes before all others also after a short pause", async () => {
    const turn = await begun();
    budget.pauseAfter429(0.5);
    const order: string[] = [];
    void budget.acquire("edit").then(() => order.push("edit"));
    void turns.acquire({ turn, lane: "sync", signal }).then(() => order.push("begun"));
    await clock.advance(3000);
    expect(order).toEqual(["begun", "edit"]);
  });

  it("gives the next request back when it is aborted just as that is granted", async () => {
    const turn = await begun();
    for (let count = 0; count < 11; count += 1) await budget.acquire("edit");
    const abort = new AbortController();
    const next = turns.acquire({ turn, lane: "sync", signal: abort.signal });
    await settle();
    budget.refund();
    const reason = new Error("stopped");
    abort.abort(reason);
    await expect(next).rejects.toBe(reason);
    await settle();
    expect(tokens()).toBe(1);
  });

  it("is postponed by a pause, and starts again after it", async () => {
    const turn = await begun();
    budget.pauseAfter429(60);
    const next = turns.acquire({ turn, lane: "sync", signal }).catch((error: unknown) => error);
    await clock.advance(1000);
    const error = await next;
    expect(error).toBeInstanceOf(Postponed);
    turns.pause(turn, (error as Postponed).until);
    let over = false;
    void (error as Postponed).until.then(() => {
      over = true;
    });
    await clock.advance(58_000);
    expect(over).toBe(false);
    await clock.advance(1000);
    expect(over).toBe(true);
    recordOf("a").place?.leave();
    await clock.advance(30_000);
    expect(tokens()).toBe(12);
  });
});

it("a reserved request is used by the next request, and given back when none is sent", async () => {
  const turn = new Turn(recordOf("a"), clock);
  await turns.reserve({ turn, lane: "edit", signal });
  for (let count = 0; count < 11; count += 1) await budget.acquire("edit");
  let isOtherSent = false;
  void budget.acquire("edit").then(() => {
    isOtherSent = true;
  });
  await turns.acquire({ turn, lane: "edit", signal });
  expect(isOtherSent).toBe(false);
  await clock.advance(1000);
  expect(isOtherSent).toBe(true);
  const unused = new Turn(recordOf("b"), clock);
  await clock.advance(1000);
  await turns.reserve({ turn: unused, lane: "edit", signal });
  expect(tokens()).toBe(0);
  turns.end(unused);
  expect(tokens()).toBe(1);
});

it("a reserved request takes no token when the reconcile was aborted already", async () => {
  const reason = new Error("stopped");
  const turn = new Turn(recordOf("a"), clock);
  await expect(turns.reserve({ turn, lane: "edit", signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(tokens()).toBe(12);
});

it("a reconcile whose first request was not sent waits like any other before the next one", async () => {
  const turn = new Turn(recordOf("a"), clock);
  await turns.acquire({ turn, lane: "edit", signal });
  turns.refund(turn);
  await useBurst();
  for (let count = 0; count < 3; count += 1) void budget.acquire("edit");
  const next = turns.acquire({ turn, lane: "edit", signal }).catch((error: unknown) => error);
  await clock.advance(1500);
  expect(await next).toBeInstanceOf(Postponed);
});

it("a reserved request waits like any other when the service asks for a pause before it is sent", async () => {
  const turn = new Turn(recordOf("a"), clock);
  await turns.reserve({ turn, lane: "edit", signal });
  budget.pauseAfter429(60);
  let ended: unknown;
  void turns.acquire({ turn, lane: "edit", signal }).then(
    () => {
      ended = "sent";
    },
    (error: unknown) => {
      ended = error;
    },
  );
  await clock.advance(2000);
  expect(ended).toBeInstanceOf(Postponed);
});

it("a reserved request is given back when the reconcile is postponed for another wait", async () => {
  const turn = new Turn(recordOf("a"), clock);
  await turns.reserve({ turn, lane: "edit", signal });
  turns.pause(turn, Promise.resolve());
  expect(tokens()).toBe(12);
});

describe("waitFor", () => {
  const never = new Promise<void>(() => {});

  it("postpones a reconcile after a second, unless a later reconcile would not find the result", async () => {
    const turn = new Turn(recordOf("a"), clock);
    let mayPostpone = false;
    let ended: unknown;
    void waitFor(never, { signal, turn }, () => mayPostpone).catch((error: unknown) => {
      ended = error;
    });
    await clock.advance(5000);
    expect(ended).toBeUndefined();
    mayPostpone = true;
    await clock.advance(1000);
    expect(ended).toBeInstanceOf(Postponed);
  });

  it("rejects when the signal is aborted, with a turn or without", async () => {
    const abort = new AbortController();
    const waits = [
      waitFor(never, { signal: abort.signal }),
      waitFor(never, { signal: abort.signal, turn: new Turn(recordOf("a"), clock) }),
    ].map((one) => one.catch((error: Error) => error.message));
    await settle();
    abort.abort(new Error("stopped"));
    expect(await Promise.all(waits)).toEqual(["stopped", "stopped"]);
  });

  it("rejects when the signal was aborted before", async () => {
    const reason = new Error("stopped");
    await expect(waitFor(never, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it("leaves nothing at its signal, which may live as long as the process", async () => {
    const { signal: lasting } = new AbortController();
    await waitFor(Promise.resolve(), { signal: lasting });
    expect(getEventListeners(lasting, "abort")).toEqual([]);
  });

  it("rejects with the error of the work", async () => {
    await expect(
      waitFor(Promise.reject(new Error("failed")), { turn: new Turn(recordOf("a"), clock) }),
    ).rejects.toThrow("failed");
  });
});

describe("a reconcile that was postponed for a wait that failed", () => {
  const failure = new Error("no answer");
  const postponedFor = (until: Promise<unknown>): Turn => {
    const turn = new Turn(recordOf("a"), clock);
    turns.pause(turn, until);
    return turn;
  };

  it("throws that error the next time, and only once", async () => {
    postponedFor(Promise.reject(failure));
    await settle();
    expect(() => turns.resume(new Turn(recordOf("b"), clock))).not.toThrow();
    expect(() => turns.resume(new Turn(recordOf("a"), clock))).toThrow(failure);
    expect(() => turns.resume(new Turn(recordOf("a"), clock))).not.toThrow();
  });

  it.each<[string, (turn: Turn) => void]>([
    ["the reconcile after it has ended", (turn) => turns.end(turn)],
    ["the object is gone", ({ record }) => record.end()],
  ])("does not throw it once %s", async (_, happens) => {
    const turn = postponedFor(Promise.reject(failure));
    happens(turn);
    await settle();
    expect(() => turns.resume(turn)).not.toThrow();
  });

  it("continues when the wait succeeded, or failed because the process stops", async () => {
    for (const wait of [async () => {}, () => Promise.reject(new Outdated("the operator is stopping"))]) {
      postponedFor(wait());
      await settle();
      expect(() => turns.resume(new Turn(recordOf("a"), clock))).not.toThrow();
    }
  });
});
