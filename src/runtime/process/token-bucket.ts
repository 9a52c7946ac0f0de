import type { Clock } from "../clock.ts";

export interface BucketOptions {
  /** The tokens of a full bucket. It is full at the beginning. */
  burst: number;
  perSecond: number;
}

/** A token bucket. */
export class TokenBucket {
  readonly #options: BucketOptions;
  readonly #clock: Clock;
  #tokens: number;
  #at: number;

  constructor(options: BucketOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.#tokens = options.burst;
    this.#at = clock.now();
  }

  /** Takes a token, or returns false when there is none. */
  take(): boolean {
    const now = this.#clock.now();
    this.#tokens = Math.min(this.#options.burst, this.#tokens + ((now - this.#at) / 1000) * this.#options.perSecond);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
