import type { Clock, Timer } from "../../../src/runtime/clock.ts";

interface Due {
  at: number;
  sequence: number;
  callback: () => void;
}

/** A clock that only `advance` and `pass` move. */
export class VirtualClock implements Clock {
  readonly #timers = new Set<Due>();
  #epoch: number;
  #now = 0;
  #sequence = 0;

  constructor(date = new Date("2026-01-01T00:00:00Z")) {
    this.#epoch = date.getTime();
  }

  now(): number {
    return this.#now;
  }

  date(): Date {
    return new Date(this.#epoch + this.#now);
  }

  /** Moves the calendar, but fires no timer. */
  setBy(milliseconds: number): void {
    this.#epoch += milliseconds;
  }

  /** Moves the time, but fires no timer before the next `advance`. */
  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }

  setTimeout(callback: () => void, milliseconds: number): Timer {
    const due = { at: this.#now + Math.max(milliseconds, 0), sequence: this.#sequence++, callback };
    this.#timers.add(due);
    return { clear: () => this.#timers.delete(due) };
  }

  /** Number of timers that have neither fired nor been cleared. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Fires the timers that become due, each at its time, and lets promises settle after each. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await settle();
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await settle();
    }
    this.#now = Math.max(this.#now, end);
  }

  #next(end: number): Due | undefined {
    let next: Due | undefined;
    for (const due of this.#timers) {
      if (due.at <= end && (!next || due.at < next.at || (due.at === next.at && due.sequence < next.sequence)))
        next = due;
    }
    return next;
  }
}

/** Runs everything that waits only for promises. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
