import type { Clock } from "../runtime/clock.ts";

/** An operation that was refused is tried again after the first delay. Each refusal doubles it, up to the second. */
const FIRST_WAIT_MS = 2 * 60_000;
const LONGEST_WAIT_MS = 60 * 60_000;

/** While one object tries a refused operation, others wait this long for the answer. */
const PROBE_MS = 60_000;

/** Refusals this far apart do not come from one maintenance of the service, unless it refuses all writes. */
const CONFIRMED_MS = 10 * 60_000;

/** `refused`: the service refused it lately, perhaps not for good. `unsupported`: it was refused often enough. */
export type Support = "supported" | "refused" | "unsupported";

interface Refusals {
  firstAt: number;
  waitMs: number;
  tryAt: number;
  /** Refusals lie far enough apart, and another write succeeded in between. */
  isCertain: boolean;
}

/**
 * Which operations a service lacks, as far as its answers tell: a 405 or 501 is a hint, and no more. An operation
 * counts as unsupported after refusals that lie ten minutes apart, with another write that succeeded in between. Even
 * then it is tried again once in an hour.
 */
export class OperationSupport {
  readonly #clock: Clock;
  readonly #refusals = new Map<string, Refusals>();
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Some write succeeded, so the service is not refusing all of them. */
  written(): void {
    this.#writtenAt = this.#clock.now();
  }

  /** The service answered as if it lacked the operation. */
  refused(operation: string): void {
    const now = this.#clock.now();
    const before = this.#refusals.get(operation);
    const waitMs = before ? Math.min(before.waitMs * 2, LONGEST_WAIT_MS) : FIRST_WAIT_MS;
    const firstAt = before?.firstAt ?? now;
    const isApart = now - firstAt >= CONFIRMED_MS && this.#writtenAt > firstAt && this.#writtenAt < now;
    const isCertain = before?.isCertain === true || isApart;
    this.#refusals.set(operation, { firstAt, waitMs, tryAt: now + waitMs, isCertain });
  }

  /** The service carried it out. */
  accepted(operation: string): void {
    this.#refusals.delete(operation);
  }

  /** The operation is about to be sent; others that want it wait for the answer. */
  recordAttempt(operation: string): void {
    const refusals = this.#refusals.get(operation);
    if (refusals) refusals.tryAt = this.#clock.now() + PROBE_MS;
  }

  /** Whether it may be sent now: it was never refused, or it is due to be tried again. */
  mayTry(operation: string): boolean {
    return this.secondsUntilTry(operation) === 0;
  }

  secondsUntilTry(operation: string): number {
    const { tryAt = 0 } = this.#refusals.get(operation) ?? {};
    return Math.max((tryAt - this.#clock.now()) / 1000, 0);
  }

  of(operation: string): Support {
    const refusals = this.#refusals.get(operation);
    if (!refusals) return "supported";
    return refusals.isCertain ? "unsupported" : "refused";
  }
}
