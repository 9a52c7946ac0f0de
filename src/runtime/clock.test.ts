import { afterEach, expect, it, vi } from "vitest";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import { sleep, systemClock } from "./clock.ts";
import { Deadline, TimedOut } from "./deadline.ts";

afterEach(() => vi.useRealTimers());

it("waits longer than Node's own timers can", async () => {
  vi.useFakeTimers();
  const days = 24 * 3_600_000;
  let fired = false;
  systemClock.setTimeout(() => {
    fired = true;
  }, 60 * days);
  await vi.advanceTimersByTimeAsync(59 * days);
  expect(fired).toBe(false);
  await vi.advanceTimersByTimeAsync(1 * days);
  expect(fired).toBe(true);
});

it("forgets a long timer that is cleared", async () => {
  vi.useFakeTimers();
  const timer = systemClock.setTimeout(() => expect.unreachable(), 3e9);
  await vi.advanceTimersByTimeAsync(2.9e9);
  timer.clear();
  expect(vi.getTimerCount()).toBe(0);
});

it("ends a sleep with the signal's reason, and leaves no timer", async () => {
  const clock = new VirtualClock();
  const abort = new AbortController();
  const sleeping = sleep(clock, 1000, abort.signal);
  const reason = new Error("enough");
  abort.abort(reason);
  await expect(sleeping).rejects.toBe(reason);
  expect(clock.pending).toBe(0);
});

it("aborts at a deadline, or with the parent, whichever is first", async () => {
  const clock = new VirtualClock();
  const parent = new AbortController();
  using timed = new Deadline(clock, 1000, parent.signal);
  using other = new Deadline(clock, 5000, parent.signal);
  await clock.advance(1000);
  expect(timed.signal.reason).toBeInstanceOf(TimedOut);
  parent.abort("stop");
  expect(other.signal.reason).toBe("stop");
});

it("leaves neither timer nor listener when a deadline is disposed of", () => {
  const clock = new VirtualClock();
  const parent = new AbortController();
  const removed = vi.spyOn(parent.signal, "removeEventListener");
  {
    using _ = new Deadline(clock, 1000, parent.signal);
  }
  expect(clock.pending).toBe(0);
  expect(removed).toHaveBeenCalledOnce();
});
