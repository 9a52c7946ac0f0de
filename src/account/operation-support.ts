import type { Clock } from "../runtime/clock.ts";

/** A refused operation is tried again after the first delay. Each refusal doubles the delay, up to the second one. */
const FIRST_WAIT_MS = 2 * 60_000;
const LONGEST_WAIT_MS = 60 * 60_000;

/** While one object tries a refused operation, others wait this long for the answer. */
const PROBE_MS = 60_000;

/**
 * Refusals this far apart have separate causes: one maintenance of the service is over by then, unless it refuses all
 * writes.
 */
const CONFIRMED_MS = 10 * 60_000;

/**
 * `refused`: the service refused the operation a short while ago, perhaps not for good. `unsupported`: it was refused
 * often enough.
 */
export type Support = "supported" | "refused" | "unsupported";

interface Refusals {
  firstAt: number;
  waitMs: number;
  tryAt: number;
  /** Whether refusals lie far enough apart, with another write that succeeded in between. */
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
  readonly #everRefused = new Set<string>();
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call it when any write succeeded: the service is not refusing all writes. */
  written(): void {
    this.#writtenAt = this.#clock.now();
  }

  /** Call it when the service answered as if it lacked the operation. */
  refused(operation: string): void {
    const now = this.#clock.now();
    this.#everRefused.add(operation);
    const before = this.#refusals.get(operation);
    const waitMs = before ? Math.min(before.waitMs * 2, LONGEST_WAIT_MS) : FIRST_WAIT_MS;
    const firstAt = before?.firstAt ?? now;
    const isApart = now - firstAt >= CONFIRMED_MS && this.#writtenAt > firstAt && this.#writtenAt < now;
    const isCertain = before?.isCertain === true || isApart;
    this.#refusals.set(operation, { firstAt, waitMs, tryAt: now + waitMs, isCertain });
  }

  /** Whether the service has refused the operation since this process began. */
  wasRefused(operation: string): boolean {
    return this.#everRefused.has(operation);
  }

  /** Call it when the service carried the operation out. */
  accepted(operation: string): void {
    this.#refusals.delete(operation);
  }

  /** Call it right before the operation is sent. Other objects that want it wait for the answer. */
  recordAttempt(operation: string): void {
    const refusals = this.#refusals.get(operation);
    if (refusals) refusals.tryAt = this.#clock.now() + PROBE_MS;
  }

  /** Whether the operation may be sent now: the service never refused it, or it is due to be tried again. */
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
