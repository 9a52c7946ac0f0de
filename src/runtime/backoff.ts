import type { Clock } from "./clock.ts";

export interface BackoffOptions {
  /** The longest first delay, in seconds. It doubles with each failure. */
  base: number;
  /** The longest of all delays, in seconds. */
  cap: number;
}

export type Random = () => number;

/** Seconds until the next attempt, with full jitter: evenly spread between 0 and base * 2^failures, or cap if less. */
export function fullJitter({ base, cap }: BackoffOptions, failures: number, random: Random): number {
  return random() * Math.min(cap, base * 2 ** Math.min(failures, 64));
}

/** The growing delays between failures of one operation. They start anew after some time without a failure. */
export class Backoff {
  readonly #options: BackoffOptions & { resetAfter: number };
  readonly #clock: Clock;
  readonly #random: Random;
  #failures = 0;
  #last = Number.NEGATIVE_INFINITY;

  /** `resetAfter`: seconds without a failure after which the delays start anew. */
  constructor(options: BackoffOptions & { resetAfter: number }, clock: Clock, random: Random) {
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
  }

  reset(): void {
    this.#failures = 0;
  }

  /** Counts a failure, and returns the milliseconds to wait: the server's Retry-After plus the delay. */
  next(retryAfterSeconds = 0): number {
    const now = this.#clock.now();
    if (now - this.#last > this.#options.resetAfter * 1000) this.#failures = 0;
    const delay = (retryAfterSeconds + fullJitter(this.#options, this.#failures, this.#random)) * 1000;
    this.#failures += 1;
    this.#last = now + delay;
    return delay;
  }
}
