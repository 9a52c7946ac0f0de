import type { Clock } from "../clock.ts";

/** A time, by both clocks, in milliseconds. */
export interface Moment {
  monotonic: number;
  calendar: number;
}

export const momentOf = (clock: Clock): Moment => ({ monotonic: clock.now(), calendar: clock.date().getTime() });

/**
 * Milliseconds, by the clock that shows more. The monotonic clock of Linux stops while the machine is suspended, and the
 * calendar may be set back.
 */
export function elapsed(since: Moment, clock: Clock): number {
  const now = momentOf(clock);
  return Math.max(now.monotonic - since.monotonic, now.calendar - since.calendar);
}
