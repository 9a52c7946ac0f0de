import { beforeEach, expect, it } from "vitest";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import { DeferredDeletes } from "./deferred-deletes.ts";

let clock: VirtualClock;
let deferred: DeferredDeletes;

beforeEach(() => {
  clock = new VirtualClock();
  deferred = new DeferredDeletes(clock);
});

const defer = (id: string) => {
  deferred.defer(id, [10, 35]);
  return deferred.secondsUntil(id);
};

it("a remote that nobody deferred may be looked at", () => {
  expect(deferred.secondsUntil("a")).toBe(0);
});

it("the delay doubles each time in a row, up to the longest, and passes", async () => {
  expect([defer("a"), defer("a"), defer("a"), defer("b")]).toEqual([10, 20, 35, 10]);
  await clock.advance(34_000);
  expect(deferred.secondsUntil("a")).toBe(1);
  await clock.advance(2_000);
  expect(deferred.secondsUntil("a")).toBe(0);
});

it("an entry that is an hour overdue is dropped", async () => {
  defer("a");
  await clock.advance(10_000 + 3_600_000 - 1);
  expect(defer("a")).toBe(20);
  await clock.advance(20_000 + 3_600_000);
  expect(defer("a")).toBe(10);
});

it("an entry that is not overdue stays when another remote is deferred", async () => {
  deferred.defer("a", [7200, 7200]);
  await clock.advance(3_600_000);
  expect(defer("b")).toBe(10);
  expect(deferred.secondsUntil("a")).toBe(3600);
});
