import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { onInterrupt } from "./interrupt.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => vi.useRealTimers());

it("counts signals that come at once as one request, and a later one as another", () => {
  const [from, callback] = [new EventEmitter(), vi.fn()];
  onInterrupt(callback, from);
  for (const signal of ["SIGINT", "SIGINT", "SIGTERM"]) from.emit(signal);
  expect(callback).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1_000);
  from.emit("SIGHUP");
  expect(callback).toHaveBeenCalledTimes(2);
});
