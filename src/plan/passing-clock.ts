import { type Clock, systemClock, type Timer } from "../runtime/clock.ts";

/** The system clock, except that every wait ends at once. A plan shows the final result. */
export class PassingClock implements Clock {
  #passedMs = 0;

  now(): number {
    return systemClock.now() + this.#passedMs;
  }

  date(): Date {
    return new Date(systemClock.date().getTime() + this.#passedMs);
  }

  setTimeout(callback: () => void, milliseconds: number): Timer {
    return systemClock.setTimeout(() => {
      this.pass(milliseconds);
      callback();
    }, 0);
  }

  pass(milliseconds: number): void {
    this.#passedMs += milliseconds;
  }
}
