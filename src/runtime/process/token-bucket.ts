import type { Clock } from "../clock.ts";

export interface BucketOptions {
  /** tokens at first and at most */
  burst: number;
  perSecond: number;
}

/** Lets a burst through, and after that as much as flows in. */
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

  take(): boolean {
    const now = this.#clock.now();
    this.#tokens = Math.min(this.#options.burst, this.#tokens + ((now - this.#at) / 1000) * this.#options.perSecond);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
