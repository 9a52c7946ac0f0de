import type { Clock } from "../../runtime/clock.ts";

/** So many answers are remembered. */
const SAMPLES = 9;

/** `Date` has whole seconds, cut off. */
const HALF_SECOND = 500;

/**
 * The time by the clock of the service, from the header `Date` of its answers. What the service dates is compared with
 * this time, so the clocks of the pods, the API server and the service need not agree. It runs with the monotonic clock,
 * which nobody can set.
 *
 * An answer is never older than its `Date`, so each one gives a time that is at the earliest. It is too early when the
 * answer took long, or came from the cache of a proxy. So the second latest counts: a proxy that repeats old answers does
 * not hold the clock back, and one odd answer does not set it forward.
 */
export class ServiceTime {
  readonly #clock: Clock;
  /** The time of the service at the beginning of the monotonic clock, by the latest answers. */
  readonly #beginnings: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `date`: the header of an answer that has just come. */
  observe(date: string | undefined): void {
    const time = Date.parse(date ?? "");
    if (!Number.isFinite(time)) return;
    this.#beginnings.push(time + HALF_SECOND - this.#clock.now());
    if (this.#beginnings.length > SAMPLES) this.#beginnings.shift();
  }

  get isKnown(): boolean {
    return this.#beginnings.length > 0;
  }

  /** Epoch milliseconds. By the calendar of this process until the service has answered. */
  now(): number {
    const [latest, second = latest] = this.#beginnings.toSorted((a, b) => b - a);
    return second === undefined ? this.#clock.date().getTime() : Math.round(second + this.#clock.now());
  }
}
