import { beforeEach, describe, expect, it } from "vitest";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { settle, VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import {
  Controller,
  type ControllerOptions,
  logOfReconcile,
  type Request,
  type Result,
  TerminalError,
} from "./controller.ts";

let clock: VirtualClock;
let stop: AbortController;
let log: ReturnType<typeof recordingLogger>;
let requests: Request[];

beforeEach(() => {
  clock = new VirtualClock();
  stop = new AbortController();
  log = recordingLogger();
  requests = [];
});

function control(
  reconcile: (request: Request) => Promise<Result>,
  options: Partial<ControllerOptions> = {},
): Controller {
  const controller = new Controller({
    name: "thing",
    reconcile: (request) => {
      requests.push(request);
      return reconcile(request);
    },
    log,
    clock,
    random: () => 0.5,
    backoff: { base: 1, cap: 60 },
    ...options,
  });
  controller.start(stop.signal);
  return controller;
}

/** The times at which reconciles began, in seconds. */
function times(): { times: number[]; note: () => void } {
  const times: number[] = [];
  return { times, note: () => times.push(clock.now() / 1000) };
}

const pause = (milliseconds: number) =>
  new Promise<Result>((resolve) => clock.setTimeout(() => resolve({}), milliseconds));

describe("Controller", () => {
  it("gives a reconcile the object's name, a log with that name, and an id", async () => {
    const controller = control(async ({ log: own }) => {
      own.info({}, "Hello");
      await undefined;
      expect(logOfReconcile()).toBe(own);
      return {};
    });
    controller.enqueue("ns/a", { priority: 7 });
    await settle();
    expect(logOfReconcile()).toBeUndefined();
    expect(requests).toMatchObject([{ key: "ns/a", namespace: "ns", name: "a", attempt: 0, priority: 7 }]);
    expect(log.lines).toMatchObject([
      {
        message: "Hello",
        fields: { controller: "thing", namespace: "ns", name: "a", reconcileID: requests[0]?.reconcileID },
      },
    ]);
    expect(requests[0]?.reconcileID).toMatch(/^[0-9a-f-]{36}$/);
  });

  describe("a reconcile that waits for a promise", () => {
    it("takes no worker, and runs again at its priority when that is settled, whether it failed or not", async () => {
      const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const waits: Promise<unknown>[] = [first.promise, second.promise];
      const controller = control(async ({ key }): Promise<Result> => {
        const when = key === "n/waits" ? waits.shift() : undefined;
        return when ? { when } : {};
      });
      controller.enqueue("n/waits", { priority: 7 });
      controller.enqueue("n/other");
      await settle();
      expect(requests.map(({ key }) => key)).toEqual(["n/waits", "n/other"]);
      first.resolve();
      await settle();
      second.reject(new Error("failed"));
      await settle();
      expect(requests.slice(2)).toMatchObject([
        { key: "n/waits", priority: 7, attempt: 0 },
        { key: "n/waits", priority: 7, attempt: 0 },
      ]);
      expect(controller.size).toBe(0);
    });

    it("runs at once after an event, and then once more at the higher priority", async () => {
      const { promise: when, resolve } = Promise.withResolvers<void>();
      let settled = false;
      const controller = control(async (): Promise<Result> => (settled ? {} : { when }));
      controller.enqueue("n/a", { priority: -5 });
      await settle();
      controller.enqueue("n/a", { priority: 3 });
      await settle();
      settled = true;
      resolve();
      await settle();
      expect(requests.map(({ priority }) => priority)).toEqual([-5, 3, 3]);
    });

    it("is not run again when its key was dropped, or an event has brought it to its end", async () => {
      const { promise: when, resolve } = Promise.withResolvers<void>();
      let ends = false;
      const controller = control(async (): Promise<Result> => (ends ? {} : { when }));
      for (const key of ["n/dropped", "n/ended"]) controller.enqueue(key);
      await settle();
      controller.drop("n/dropped");
      ends = true;
      controller.enqueue("n/ended");
      await settle();
      resolve();
      await settle();
      expect(requests.map(({ key }) => key)).toEqual(["n/dropped", "n/ended", "n/ended"]);
    });
  });

  it("never runs a key twice at once, and once more after any number of events during the run", async () => {
    let running = 0;
    const controller = control(
      async () => {
        running += 1;
        expect(running).toBe(1);
        await pause(1_000);
        running -= 1;
        return {};
      },
      { concurrency: 4 },
    );
    controller.enqueue("ns/a");
    await settle();
    for (let n = 0; n < 5; n += 1) controller.enqueue("ns/a");
    await clock.advance(10_000);
    expect(requests).toHaveLength(2);
  });

  it("reconciles as many keys at the same time as it may", async () => {
    const controller = control(() => pause(1_000), { concurrency: 3 });
    for (const name of ["a", "b", "c", "d"]) controller.enqueue(`ns/${name}`);
    await settle();
    expect(requests).toHaveLength(3);
    await clock.advance(1_000);
    expect(requests).toHaveLength(4);
  });

  it("requeues after the given time, or up to a fifth later, at the same priority", async () => {
    const seen = times();
    const spread = [0, 1, 0.5];
    const controller = control(
      async () => {
        seen.note();
        return { requeueAfterSeconds: 100 };
      },
      { random: () => spread.shift() ?? 0.5 },
    );
    controller.enqueue("ns/a", { priority: -100 });
    await clock.advance(350_000);
    expect(seen.times).toEqual([0, 100, 220, 330]);
    expect(requests.map(({ priority }) => priority)).toEqual([-100, -100, -100, -100]);
  });

  it("requeues no more than a minute late, however far off the time is", async () => {
    const seen = times();
    const controller = control(
      async () => {
        seen.note();
        return seen.times.length === 1 ? { requeueAfterSeconds: 10_000 } : {};
      },
      { random: () => 1 },
    );
    controller.enqueue("ns/a");
    await clock.advance(20_000_000);
    expect(seen.times).toEqual([0, 10_060]);
  });

  it("logs an error once, and retries with growing delays until success", async () => {
    const seen = times();
    const error = new Error("out of order");
    const controller = control(async ({ attempt }) => {
      seen.note();
      if (attempt < 3) throw error;
      return {};
    });
    controller.enqueue("ns/a");
    await clock.advance(60_000);
    expect(seen.times).toEqual([0, 0.5, 1.5, 3.5]);
    expect(log.lines.map(({ level, fields }) => [level, fields["error"]])).toEqual(Array(3).fill(["error", error]));
    controller.enqueue("ns/a");
    await settle();
    expect(requests.at(-1)?.attempt).toBe(0);
  });

  it("forgets failures at a requeue after a given time", async () => {
    const fates: Result[] = [{ backoff: true }, { requeueAfterSeconds: 10 }];
    const controller = control(async () => fates.shift() ?? {});
    controller.enqueue("ns/a");
    await clock.advance(30_000);
    expect(requests.map(({ attempt }) => attempt)).toEqual([0, 1, 0]);
  });

  it("backs off when the result says so, not before the given time, and without a log line if there is no error", async () => {
    const seen = times();
    const controller = control(async ({ attempt }): Promise<Result> => {
      seen.note();
      return attempt === 0 ? { backoff: true, atLeastSeconds: 30 } : {};
    });
    controller.enqueue("ns/a");
    await clock.advance(60_000);
    expect(seen.times).toEqual([0, 30.5]);
    expect(log.lines).toEqual([]);
  });

  it("retries a stale read soon, later each time, at the same priority and without a log line", async () => {
    const seen = times();
    const controller = control(
      async ({ attempt }): Promise<Result> => {
        seen.note();
        return attempt < 2 ? { stale: true } : {};
      },
      { requeuePriority: -50 },
    );
    controller.enqueue("ns/a", { priority: 7 });
    await clock.advance(10_000);
    expect(seen.times).toEqual([0, 0.2, 0.6]);
    expect(requests.map(({ priority }) => priority)).toEqual([7, 7, 7]);
    expect(log.lines).toEqual([]);
  });

  it("keeps stale reads a few seconds apart, however long the cache is behind", async () => {
    const controller = control(async () => ({ stale: true }));
    controller.enqueue("ns/a");
    await clock.advance(600_000);
    requests.length = 0;
    await clock.advance(600_000);
    expect(requests).toHaveLength(120);
  });

  it("retries at the requeue priority, until an event raises it", async () => {
    const fail = () => Promise.reject(new Error("out of order"));
    const controller = control(({ attempt }) => (attempt < 2 ? fail() : pause(0)), { requeuePriority: -50 });
    controller.enqueue("ns/edited");
    controller.enqueue("ns/routine", { priority: -100 });
    await clock.advance(1_000);
    controller.enqueue("ns/edited");
    await clock.advance(60_000);
    const priorities = (name: string) => requests.filter((one) => one.name === name).map(({ priority }) => priority);
    expect(priorities("edited")).toEqual([0, -50, 0]);
    expect(priorities("routine")).toEqual([-100, -50, -50]);
  });

  it("does not retry after a TerminalError", async () => {
    const controller = control(() => Promise.reject(new TerminalError("hopeless")));
    controller.enqueue("ns/a");
    await clock.advance(3_600_000);
    expect(requests).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it("aborts a reconcile at its timeout, but frees the key only when it has ended", async () => {
    const controller = control(
      async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        await pause(5_000);
        throw signal.reason;
      },
      { timeoutSeconds: 10, concurrency: 2 },
    );
    controller.enqueue("ns/a");
    await settle();
    controller.enqueue("ns/a");
    await clock.advance(14_999);
    expect(requests).toHaveLength(1);
    await clock.advance(1);
    expect(requests).toHaveLength(2);
    expect(requests[0]?.signal.reason).toMatchObject({ message: "Took longer than 10 s" });
    stop.abort();
    await clock.advance(5_000);
  });

  it("has a problem when a reconcile runs long after its timeout", async () => {
    const controller = control(() => pause(100_000), { timeoutSeconds: 10 });
    controller.enqueue("ns/a");
    await clock.advance(69_000);
    expect(controller.problem).toBeUndefined();
    await clock.advance(2_000);
    expect(controller.problem).toBe("thing: a reconcile has been running for 71 s");
  });

  it("drains: waits for running reconciles, begins no others, and leaves no timer", async () => {
    const controller = control(() => pause(3_000));
    for (const key of ["ns/a", "ns/b"]) controller.enqueue(key);
    controller.enqueue("ns/c", { afterSeconds: 1 });
    await settle();
    let drained = false;
    const draining = controller.drain().then(() => {
      drained = true;
    });
    controller.enqueue("ns/d");
    await clock.advance(2_999);
    expect(drained).toBe(false);
    expect(requests[0]?.signal.aborted).toBe(false);
    await clock.advance(1);
    await draining;
    expect(requests).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it("aborts running reconciles at a hard stop, which is no error", async () => {
    const controller = control(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
    controller.enqueue("ns/a");
    await settle();
    stop.abort(new Error("stopping"));
    await controller.drain();
    expect(log.lines).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("keeps keys that are added before it starts", async () => {
    const controller = new Controller({
      name: "thing",
      reconcile: async (request) => {
        requests.push(request);
        return {};
      },
      log,
      clock,
    });
    controller.enqueue("ns/a");
    await settle();
    expect(requests).toHaveLength(0);
    controller.start(stop.signal);
    await settle();
    expect(requests).toHaveLength(1);
  });
});
