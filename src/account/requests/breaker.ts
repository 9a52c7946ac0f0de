import { Backoff, type BackoffOptions } from "../../runtime/backoff.ts";
import type { Clock } from "../../runtime/clock.ts";

/**
 * Holds back attempts that would fail like the last one. While it is open, one attempt at a time goes through, less and
 * less often. Its user says when it opens and closes, and whom it holds back: all requests of an account (see
 * CircuitBreaker), the objects that failed on one route (see Failures), or one operation (see OperationSupport).
 */
export class Breaker {
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  #isOpen = false;
  #isTrying = false;
  /** Until then, a breaker that opens again continues with the delay that it had. Monotonic milliseconds. */
  #remembersUntil = Number.NEGATIVE_INFINITY;

  constructor(delays: BackoffOptions, clock: Clock) {
    this.#clock = clock;
    this.#backoff = new Backoff(delays, clock);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether an attempt has begun and has not failed yet. */
  get isTrying(): boolean {
    return this.#isTrying;
  }

  /** Seconds until the next attempt may begin; 0: now. */
  get secondsLeft(): number {
    return this.#isOpen ? this.#backoff.secondsLeft : 0;
  }

  open(): void {
    this.#isOpen = true;
    if (this.#clock.now() >= this.#remembersUntil) this.#backoff.reset();
    this.#backoff.hold();
  }

  /** Call it right before an attempt. The next one waits for these seconds; default: as long as this one did. */
  begin(seconds?: number): void {
    this.#isTrying = true;
    this.#backoff.hold(seconds);
  }

  /** Call it when an attempt has failed. The next one waits longer. */
  failed(): void {
    this.#isTrying = false;
    this.#backoff.next();
  }

  /** Lets no attempt through for these seconds. Default: as long as the last one waited. */
  hold(seconds?: number): void {
    this.#backoff.hold(seconds);
  }

  /** Lets the next attempt through now. */
  release(): void {
    this.#backoff.release();
  }

  close(): void {
    this.#isOpen = false;
    this.#isTrying = false;
    this.#remembersUntil = this.#clock.now() + this.#backoff.delaySeconds * 1000;
  }
}
