import type { Clock } from "./clock.ts";

export interface BackoffOptions {
  /** The longest first delay, in seconds. It doubles with each failure. */
  base: number;
  /** The longest of all delays, in seconds. */
  cap: number;
  /** The share of each delay that is random. Default 1: a delay is evenly spread between 0 and its longest value. */
  jitter?: number;
}

export type Random = () => number;

/** Seconds until the next attempt after one failure and this many failures before it. No other code doubles a delay. */
export function delayAfter({ base, cap, jitter = 1 }: BackoffOptions, failures: number, random: Random): number {
  return Math.min(cap, base * 2 ** Math.min(failures, 64)) * (1 - jitter + jitter * random());
}

/** The growing delays between failures of one operation. */
export class Backoff {
  readonly #options: BackoffOptions & { resetAfter?: number };
  readonly #clock: Clock;
  readonly #random: Random;
  #failures = 0;
  #delay = 0;
  /** Monotonic milliseconds. */
  #until = Number.NEGATIVE_INFINITY;

  /** `resetAfter`: seconds without a failure after which the delays start anew. Default: they do so after `reset` alone. */
  constructor(options: BackoffOptions & { resetAfter?: number }, clock: Clock, random: Random = Math.random) {
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
  }

  reset(): void {
    this.#failures = 0;
    this.release();
  }

  /**
   * Counts a failure, and returns the milliseconds to wait: the server's Retry-After plus the delay. `delays`: those of
   * this failure, if failures differ.
   */
  next(retryAfterSeconds = 0, delays: BackoffOptions = this.#options): number {
    const { resetAfter = Number.POSITIVE_INFINITY } = this.#options;
    const now = this.#clock.now();
    if (now - this.#until > resetAfter * 1000) this.#failures = 0;
    this.#delay = (retryAfterSeconds + delayAfter(delays, this.#failures, this.#random)) * 1000;
    this.#failures += 1;
    this.#until = now + this.#delay;
    return this.#delay;
  }

  /** Makes the next attempt wait for these seconds at least. Default: the latest delay, or the first one. */
  hold(seconds?: number): void {
    if (seconds === undefined && this.#failures === 0) this.next();
    else
      this.#until = Math.max(this.#until, this.#clock.now() + (seconds === undefined ? this.#delay : seconds * 1000));
  }

  /** Lets the next attempt begin now. A further failure is followed by a longer delay all the same. */
  release(): void {
    this.#until = Math.min(this.#until, this.#clock.now());
  }

  /** The latest delay. */
  get delaySeconds(): number {
    return this.#delay / 1000;
  }

  get isDue(): boolean {
    return this.secondsLeft === 0;
  }

  /** Seconds until the next attempt. */
  get secondsLeft(): number {
    return Math.max((this.#until - this.#clock.now()) / 1000, 0);
  }
}
