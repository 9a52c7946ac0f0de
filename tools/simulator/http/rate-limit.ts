import { tooManyRequests } from "./refusal.ts";

const minute = 60_000;

/** Counts the requests of the last minute. Refused requests do not count. */
export class RateLimit {
  readonly #most: number;
  readonly #times: number[] = [];

  constructor(requestsPerMinute: number) {
    this.#most = requestsPerMinute;
  }

  /** Throws a 429 that says in how many seconds the next request is allowed. */
  admit(now: number): void {
    if (this.#most === Number.POSITIVE_INFINITY) return;
    while (this.#times[0] !== undefined && this.#times[0] <= now - minute) this.#times.shift();
    const [oldest] = this.#times;
    if (oldest !== undefined && this.#times.length >= this.#most) {
      throw tooManyRequests(Math.max(1, Math.ceil((oldest + minute - now) / 1000)));
    }
    this.#times.push(now);
  }

  clear(): void {
    this.#times.length = 0;
  }
}
