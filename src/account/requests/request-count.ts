import type { Clock } from "../../runtime/clock.ts";

const MINUTE_SECONDS = 60;

/** Counts what happened in the last minute, to the second. */
export class RequestCount {
  readonly #clock: Clock;
  /** Counts by the second (monotonic) in which the requests ended. */
  readonly #counts = new Map<number, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  record(): void {
    const second = this.#second();
    this.#counts.set(second, (this.#counts.get(second) ?? 0) + 1);
    this.#dropOld(second);
  }

  get lastMinute(): number {
    this.#dropOld(this.#second());
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  #second = (): number => Math.floor(this.#clock.now() / 1000);

  #dropOld(now: number): void {
    for (const second of this.#counts.keys()) if (second <= now - MINUTE_SECONDS) this.#counts.delete(second);
  }
}
