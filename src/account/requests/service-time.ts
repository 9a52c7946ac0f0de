import type { Clock } from "../../runtime/clock.ts";
import { isWritable } from "../../schema/time.ts";

/** How many answers count. */
const SAMPLES = 9;

/** `Date` is cut off to whole seconds, so half a second is added on average. */
const HALF_SECOND = 500;

/**
 * The time by the clock of the service, from the header `Date` of its answers. Times that the service sets are compared
 * with it, so the clocks of pods, API server and service need not agree. It runs with the monotonic clock, which nobody
 * can set.
 *
 * An answer never arrives before its `Date`, so each answer gives a lower bound of the time. The bound is too low when
 * the answer took long or came from the cache of a proxy. So the second highest bound counts: a proxy that repeats old
 * answers does not hold the clock back, and one wrong answer does not set it forward.
 */
export class ServiceTime {
  readonly #clock: Clock;
  /** The service's time at the zero of the monotonic clock, as each of the latest answers suggests. */
  readonly #beginnings: number[] = [];
  /** The one of them that counts. Undefined: the service has not answered yet. */
  #beginning: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `date`: the header of an answer that has just come. */
  observe(date: string | undefined): void {
    const time = Date.parse(date ?? "");
    if (!isWritable(time)) return;
    this.#beginnings.push(time + HALF_SECOND - this.#clock.now());
    if (this.#beginnings.length > SAMPLES) this.#beginnings.shift();
    const [latest, second = latest] = this.#beginnings.toSorted((a, b) => b - a);
    this.#beginning = second;
  }

  /** The time now. Uses the clock of this process until the service has answered. */
  get epochMs(): number {
    const beginning = this.#beginning;
    return beginning === undefined ? this.#clock.date().getTime() : Math.round(beginning + this.#clock.now());
  }
}
