import { beforeEach, describe, expect, it } from "vitest";
import { recordsOf } from "../../test/fakes/account/records.ts";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import { GatewayError } from "../gateway/errors.ts";
import { reconcileErrorOf } from "../objects/map-error.ts";
import { type ReconcileError, Retry, Waiting } from "../objects/reconcile-error.ts";
import { Failures } from "./failures.ts";

const HOUR = 3600;
const answered = (status: number, method = "PATCH", route = "/ip_policies/{id}"): GatewayError =>
  new GatewayError({ kind: status < 500 ? "refused" : "failed", method, route, status, problem: "no" });

let clock: VirtualClock;
let released: number;
let failures: Failures;
let recordOf: ReturnType<typeof recordsOf>;

/** Chance is fair in the middle, so that delays are known. */
beforeEach(() => {
  clock = new VirtualClock();
  released = 0;
  recordOf = recordsOf(clock);
  failures = new Failures(
    clock,
    () => {
      released += 1;
    },
    () => 0.5,
  );
});

function fail(uid: string, cause: GatewayError, asked = "1", inputs?: string): void {
  const error = reconcileErrorOf(cause) as ReconcileError;
  failures.failed(recordOf(uid), { error, cause, asked, inputs, isTransient: true });
}

/** Tries those of the objects that may be tried, which all fail, and counts them. */
function attempts(uids: readonly string[], cause: GatewayError): number {
  let tried = 0;
  for (const uid of uids) {
    if (failures.secondsLeft(recordOf(uid)) > 0) continue;
    failures.recordAttempt(recordOf(uid));
    fail(uid, cause);
    tried += 1;
  }
  return tried;
}

/** Tries objects that fail as soon as they may be tried, and counts the attempts in this many seconds. */
async function attemptsIn(seconds: number, uids: readonly string[], cause: GatewayError, step = 1): Promise<number> {
  let tried = 0;
  for (let passed = 0; passed < seconds; passed += step) {
    tried += attempts(uids, cause);
    await clock.advance(step * 1000);
  }
  return tried;
}

/** For how many seconds no object is tried on the route after this one. */
function turnOf(uid: string): number {
  failures.recordAttempt(recordOf(uid));
  return failures.secondsLeft(recordOf(uid));
}

const ten = Array.from({ length: 10 }, (_, index) => `uid-${index}`);

describe("an object that fails", () => {
  it.each([
    ["a failure that may pass", answered(500), [0.5, 1, 2, 4, 8, 16, 32, 64, 128, 150, 150]],
    ["a refusal of the key", answered(401), [60, 120, 240, 480, 960, 1920, 3600, 3600]],
    ["a refusal of the permission", answered(403), [60, 120, 240]],
    ["a refusal of what was sent", answered(422), [1800, 3600, 3600, 3600]],
  ])("is tried again after growing delays: %s", async (_, cause, delays) => {
    const found: number[] = [];
    for (const _delay of delays) {
      fail("uid", cause);
      found.push(failures.secondsLeft(recordOf("uid")));
      await clock.advance((found.at(-1) as number) * 1000);
    }
    expect(found).toEqual(delays);
  });

  it.each([
    ["waits for something else", new Waiting("InUse", "no")],
    ["may be repeated", new Retry("ServiceUnavailable", "no")],
  ])("is tried again soon if it %s, whatever the service answered", (_, error) => {
    for (const status of [403, 409])
      failures.failed(recordOf(`uid-${status}`), {
        error,
        cause: answered(status),
        asked: "1",
        inputs: "1",
        isTransient: true,
      });
    expect([failures.secondsLeft(recordOf("uid-403")), failures.secondsLeft(recordOf("uid-409"))]).toEqual([0.5, 0.5]);
  });

  it("is tried no earlier than the service's Retry-After", () => {
    const cause = new GatewayError({
      kind: "failed",
      method: "GET",
      route: "/ip_policies",
      status: 503,
      problem: "no",
      retryAfterSeconds: 90,
    });
    fail("uid", cause);
    expect(failures.secondsLeft(recordOf("uid"))).toBe(90);
  });

  it.each([400, 401, 403, 409, 422])("with %d is tried about once an hour in the long run", async (status) => {
    await attemptsIn(4 * HOUR, ["uid"], answered(status), 60);
    expect(await attemptsIn(10 * HOUR, ["uid"], answered(status), 60)).toBeLessThanOrEqual(10);
  });

  it.each([
    ["its spec", ["2", "a"]],
    ["what its spec refers to", ["1", "b"]],
  ])("starts anew after a change of %s", (_, [asked, inputs]) => {
    for (let count = 0; count < 5; count += 1) fail("uid", answered(500), "1", "a");
    expect(failures.secondsLeft(recordOf("uid"))).toBe(8);
    fail("uid", answered(500), asked, inputs);
    expect(failures.secondsLeft(recordOf("uid"))).toBe(0.5);
  });

  it.each<[string | undefined, string | undefined]>([
    [undefined, "a"],
    ["a", undefined],
  ])("goes on after an attempt that did not come to read what its spec refers to", (before, after) => {
    for (let count = 0; count < 5; count += 1) fail("uid", answered(500), "1", before);
    fail("uid", answered(500), "1", after);
    expect(failures.secondsLeft(recordOf("uid"))).toBe(16);
  });

  it("is forgotten when it succeeds or ends", () => {
    for (const end of [() => failures.succeeded(recordOf("uid")), () => failures.forget(recordOf("uid"))]) {
      fail("uid", answered(500));
      expect(failures.of(recordOf("uid"))).toBeDefined();
      end();
      expect(failures.of(recordOf("uid"))).toBeUndefined();
      expect(failures.secondsLeft(recordOf("uid"))).toBe(0);
    }
  });
});

describe("a route on which several objects fail", () => {
  it("is tried less and less often, however many objects fail there", async () => {
    const minutes: number[] = [];
    for (let minute = 0; minute < 10; minute += 1) minutes.push(await attemptsIn(60, ten, answered(500)));
    expect(minutes[0]).toBeLessThanOrEqual(20);
    expect(Math.max(...minutes.slice(2))).toBeLessThanOrEqual(1);
    expect(minutes.reduce((sum, count) => sum + count)).toBeGreaterThan(15);
  });

  it.each([
    [4, false],
    [5, true],
  ])("is tried by one of %d objects at a time: %s", async (count, inTurns) => {
    const uids = ten.slice(0, count);
    for (const uid of uids) fail(uid, answered(500));
    await clock.advance(HOUR * 1000);
    expect(uids.filter((uid) => failures.secondsLeft(recordOf(uid)) > 0)).toEqual([]);
    failures.recordAttempt(recordOf("uid-0"));
    expect(failures.secondsLeft(recordOf("uid-1")) > 0).toBe(inTurns);
  });

  it("slows down after repeated failures of an object, not after first failures of many", async () => {
    for (const uid of ten) fail(uid, answered(500));
    const first = failures.secondsLeft(recordOf("uid-0"));
    failures.recordAttempt(recordOf("uid-0"));
    fail("uid-0", answered(500));
    const second = failures.secondsLeft(recordOf("uid-0"));
    failures.recordAttempt(recordOf("uid-0"));
    fail("uid-0", answered(500));
    expect([first, second, failures.secondsLeft(recordOf("uid-0"))]).toEqual([2, 4, 8]);
  });

  it("delays no object that has not failed there", async () => {
    await attemptsIn(60, ten, answered(500));
    expect(failures.secondsLeft(recordOf("fresh"))).toBe(0);
    fail("elsewhere", answered(500, "POST", "/reserved_addrs"));
    expect(failures.secondsLeft(recordOf("elsewhere"))).toBe(0.5);
  });

  it("releases the other failed objects when one of them succeeds", async () => {
    await attemptsIn(60, ten, answered(500));
    fail("elsewhere", answered(401, "POST", "/reserved_addrs"));
    const [first, ...others] = ten as [string, ...string[]];
    failures.succeeded(recordOf("fresh"));
    expect(released).toBe(0);
    failures.succeeded(recordOf(first));
    expect(released).toBe(1);
    expect(others.map((uid) => failures.secondsLeft(recordOf(uid)))).toEqual(others.map(() => 0));
    expect(failures.secondsLeft(recordOf("elsewhere"))).toBeGreaterThan(0);
  });

  it("does not release an object again that keeps failing while the others succeed one by one", async () => {
    await attemptsIn(1, ten, answered(500));
    const [broken, ...others] = ten as [string, ...string[]];
    await clock.advance(60_000);
    for (const uid of others) {
      failures.succeeded(recordOf(uid));
      if (failures.secondsLeft(recordOf(broken)) === 0) fail(broken, answered(500));
    }
    expect(released).toBe(1);
    expect(failures.secondsLeft(recordOf(broken))).toBeGreaterThan(0);
  });

  it("is shared by objects that the service refused for different reasons, and not by those it refused by themselves", async () => {
    const causes = [500, 401, 403, 500, 401].map((status) => answered(status));
    for (const [index, cause] of causes.entries()) fail(`uid-${index}`, cause);
    fail("refused", answered(422));
    failures.succeeded(recordOf("uid-0"));
    expect(["uid-1", "uid-2", "refused"].map((uid) => failures.secondsLeft(recordOf(uid)))).toEqual([0, 0, 1800]);
    await clock.advance(1);
    for (const [index, cause] of causes.entries()) fail(`uid-${index}`, cause);
    fail("refused", answered(422));
    await clock.advance(HOUR * 1000);
    failures.recordAttempt(recordOf("uid-0"));
    const waiting = [...ten.slice(0, 5), "refused"].filter((uid) => failures.secondsLeft(recordOf(uid)) > 0);
    expect(waiting).toEqual(ten.slice(0, 5));
  });

  it.each([
    ["one was refused by itself", () => fail("uid-4", answered(422))],
    [
      "one is gone",
      () => {
        fail("uid-4", answered(500));
        failures.forget(recordOf("uid-4"));
      },
    ],
    [
      "one failed elsewhere after that",
      () => {
        fail("uid-4", answered(500));
        fail("uid-4", answered(500, "GET"));
      },
    ],
  ])("lets all be tried while four fail there: %s", async (_, fifth) => {
    for (const uid of ten.slice(0, 4)) fail(uid, answered(500));
    fifth();
    await clock.advance(HOUR * 1000);
    failures.recordAttempt(recordOf("uid-0"));
    expect(failures.secondsLeft(recordOf("uid-1"))).toBe(0);
  });

  it("begins with short turns, however often fewer objects failed there", async () => {
    for (let count = 0; count < 6; count += 1) for (const uid of ten.slice(0, 4)) fail(uid, answered(500));
    await clock.advance(HOUR * 1000);
    fail("uid-4", answered(500));
    expect(turnOf("uid-0")).toBe(2);
  });

  it.each([
    ["an object has succeeded", () => failures.succeeded(recordOf("uid-0"))],
    ["the account is back", () => failures.releaseSince(0)],
  ])("begins with short turns again after %s", async (_, end) => {
    await attemptsIn(600, ten, answered(500));
    expect(turnOf("uid-1")).toBe(60);
    end();
    await clock.advance(1);
    failures.forget(recordOf("uid-1"));
    fail("uid-1", answered(500));
    await clock.advance(HOUR * 1000);
    expect(turnOf("uid-1")).toBe(2);
  });

  it.each([["an object has succeeded", () => failures.succeeded(recordOf("uid-0"))]])(
    "begins with short turns when all fail again after %s, and slows down from there",
    async (_, release) => {
      await attemptsIn(1, ten, answered(500));
      await clock.advance(60_000);
      release();
      await clock.advance(1);
      for (const uid of ten.slice(1)) fail(uid, answered(500));
      expect(turnOf("uid-1")).toBe(2);
      await clock.advance(60_000);
      failures.recordAttempt(recordOf("uid-1"));
      fail("uid-1", answered(500));
      expect(turnOf("uid-1")).toBe(4);
    },
  );

  it("slows down also while objects succeed there that have not failed", async () => {
    // An object is looked at again when it said so after its last failure. Nothing else triggers a reconcile.
    const looks = new Map(ten.map((uid) => [uid, 0]));
    let tried = 0;
    for (let passed = 0; passed < 20; passed += 1) {
      const due = ten.filter((uid) => (looks.get(uid) ?? 0) <= passed);
      for (const uid of due) {
        tried += attempts([uid], answered(500));
        looks.set(uid, passed + failures.secondsLeft(recordOf(uid)));
      }
      if (passed % 2 === 1) failures.answered("PATCH /ip_policies/{id}");
      await clock.advance(1000);
    }
    expect(tried).toBeLessThanOrEqual(25);
  });

  it("begins with short turns again when all objects that failed there are gone", async () => {
    await attemptsIn(600, ten, answered(500));
    for (const uid of ten) failures.forget(recordOf(uid));
    for (const uid of ten) fail(uid, answered(500));
    await clock.advance(HOUR * 1000);
    expect(turnOf("uid-1")).toBe(2);
  });

  it("is not affected by refusals that concern one object", async () => {
    for (const uid of ten) fail(uid, answered(422));
    failures.succeeded(recordOf("uid-0"));
    expect(released).toBe(0);
    expect(failures.secondsLeft(recordOf("uid-1"))).toBeGreaterThan(1600);
  });
});

describe("when the account answers again", () => {
  it("objects that failed meanwhile may be tried, with longer delays after the next failure; objects that failed before may not", async () => {
    fail("before", answered(401));
    await clock.advance(1000);
    for (let count = 0; count < 3; count += 1) fail("meanwhile", answered(500));
    failures.releaseSince(1000);
    expect(released).toBe(1);
    expect(failures.secondsLeft(recordOf("meanwhile"))).toBe(0);
    expect(failures.secondsLeft(recordOf("before"))).toBe(59);
    fail("meanwhile", answered(500));
    expect(failures.secondsLeft(recordOf("meanwhile"))).toBe(4);
  });

  it("objects that failed on one route need no turns", async () => {
    for (const uid of ten) fail(uid, answered(500));
    await clock.advance(1000);
    failures.releaseSince(0);
    failures.recordAttempt(recordOf("uid-0"));
    expect(failures.secondsLeft(recordOf("uid-1"))).toBe(0);
  });

  it("nobody is told that objects may be tried when none failed meanwhile", async () => {
    fail("before", answered(401));
    await clock.advance(1000);
    failures.releaseSince(1000);
    expect(released).toBe(0);
  });
});

it.each([
  [4, 0],
  [5, 1],
])("of %d objects that fail on a route, %d wait while one is tried", async (count, waiting) => {
  const [first, ...others] = ten.slice(0, count) as [string, ...string[]];
  for (const uid of [first, ...others]) fail(uid, answered(500));
  await clock.advance(300_000);
  failures.recordAttempt(recordOf(first));
  const [next = ""] = others;
  expect(failures.secondsLeft(recordOf(next)) > 0).toBe(waiting === 1);
});

describe("a route on which many objects fail", () => {
  beforeEach(async () => {
    for (const uid of ten) fail(uid, answered(500));
    await clock.advance(300_000);
  });

  it("may be tried by all of them once one has succeeded, also while others are being tried", () => {
    const [first, second, third] = ten as [string, string, string];
    failures.recordAttempt(recordOf(first));
    failures.succeeded(recordOf(first));
    failures.recordAttempt(recordOf(second));
    failures.succeeded(recordOf(second));
    expect(failures.secondsLeft(recordOf(third))).toBe(0);
  });

  it("releases the others when one of them succeeds, also after it answered objects that had not failed", async () => {
    const [first, second] = ten as [string, string];
    for (const uid of ten) fail(uid, answered(500));
    failures.answered("PATCH /ip_policies/{id}");
    await clock.advance(1);
    failures.recordAttempt(recordOf(first));
    failures.succeeded(recordOf(first));
    expect([released, failures.secondsLeft(recordOf(second))]).toEqual([1, 0]);
  });

  it("may be tried by all of them after it answered an object that had not failed", () => {
    const [first, second] = ten as [string, string];
    failures.recordAttempt(recordOf(first));
    expect(failures.secondsLeft(recordOf(second))).toBeGreaterThan(0);
    failures.answered("PATCH /ip_policies/{id}");
    expect(failures.secondsLeft(recordOf(second))).toBe(0);
  });
});

describe("a change of another object", () => {
  it("lets a refused object be tried at once", async () => {
    fail("a", answered(409));
    failures.retrySooner(recordOf("a"));
    expect(failures.secondsLeft(recordOf("a"))).toBe(0);
  });

  it("lets it be tried at once after three failures, and no longer after four", () => {
    const left: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      fail("a", answered(409));
      failures.retrySooner(recordOf("a"));
      left.push(failures.secondsLeft(recordOf("a")));
    }
    expect(left).toEqual([0, 0, 0, 1, 2]);
  });

  it("lets it be tried less and less often, however many changes there are", async () => {
    let attempts = 0;
    for (let passed = 0; passed < 10 * HOUR; passed += 1) {
      failures.retrySooner(recordOf("a"));
      if (failures.secondsLeft(recordOf("a")) === 0) {
        fail("a", answered(409));
        attempts += 1;
      }
      await clock.advance(1000);
    }
    expect(attempts).toBeLessThanOrEqual(135);
  });

  it("delays no object that may be tried already", () => {
    for (let count = 0; count < 6; count += 1) fail("a", answered(500));
    failures.releaseSince(0);
    failures.retrySooner(recordOf("a"));
    expect(failures.secondsLeft(recordOf("a"))).toBe(0);
  });

  it("never makes a delay longer", () => {
    for (let count = 0; count < 6; count += 1) fail("a", answered(500));
    const before = failures.secondsLeft(recordOf("a"));
    for (let count = 0; count < 6; count += 1) fail("b", answered(400));
    failures.retrySooner(recordOf("a"));
    failures.retrySooner(recordOf("b"));
    expect(failures.secondsLeft(recordOf("a"))).toBeLessThanOrEqual(before);
    expect(failures.secondsLeft(recordOf("b"))).toBe(4);
  });
});
