import type { Verb } from "../gateway/resource.ts";
import type { Clock } from "../runtime/clock.ts";
import { Breaker } from "./requests/breaker.ts";

/** How long a refused operation waits before it is tried again. */
const DELAYS = { base: 2 * 60, cap: 3600, jitter: 0 };

/** While one object tries a refused operation, others wait this long for the answer. */
const PROBE_SECONDS = 60;

/**
 * Refusals this far apart have separate causes: one maintenance of the service is over by then, unless it refuses all
 * writes.
 */
const CONFIRMED_MS = 10 * 60_000;

/**
 * `refused`: the service refused the operation a short while ago, perhaps not for good. `unsupported`: it was refused
 * often enough.
 */
type Support = "supported" | "refused" | "unsupported";

interface Refusals {
  firstAt: number;
  readonly breaker: Breaker;
  /** Whether refusals lie far enough apart, with another write that succeeded in between. */
  isCertain: boolean;
}

type Changing = "update" | "delete";

/** A resource or a module: its operations may be missing in a service. */
export interface Operations {
  readonly name: string;
  readonly verbs: { readonly [verb in Changing]?: Verb };
}

/**
 * Which operations a service lacks, as far as its answers tell: a 405 or 501 is a hint, and no more. An operation
 * counts as unsupported after refusals that lie ten minutes apart, with another write that succeeded in between. Even
 * then it is tried again once in an hour. That is evidence, and another question than whether the account or a route may
 * be asked now: an outage proves nothing.
 */
export class OperationSupport {
  /** Whether operations, and members of updates, are tried that the API page does not show. */
  readonly triesUndocumented: boolean;
  readonly #clock: Clock;
  readonly #refusals = new Map<string, Refusals>();
  readonly #everRefused = new Set<string>();
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, triesUndocumented: boolean) {
    this.#clock = clock;
    this.triesUndocumented = triesUndocumented;
  }

  /** Call it when any write succeeded: the service is not refusing all writes. */
  written(): void {
    this.#writtenAt = this.#clock.now();
  }

  /** Call it when the service answered as if it lacked the operation. */
  refused(resource: Operations, verb: Changing): void {
    const name = nameOf(resource, verb);
    const now = this.#clock.now();
    this.#everRefused.add(name);
    const known = this.#refusals.get(name);
    const refusals = known ?? { firstAt: now, breaker: new Breaker(DELAYS, this.#clock), isCertain: false };
    if (known) known.breaker.failed();
    else refusals.breaker.open();
    const { firstAt } = refusals;
    refusals.isCertain ||= now - firstAt >= CONFIRMED_MS && this.#writtenAt > firstAt && this.#writtenAt < now;
    this.#refusals.set(name, refusals);
  }

  /** Whether the service has refused the operation since this process began. */
  wasRefused(resource: Operations, verb: Changing): boolean {
    return this.#everRefused.has(nameOf(resource, verb));
  }

  /** Call it when the service carried the operation out. */
  accepted(resource: Operations, verb: Changing): void {
    this.#refusals.delete(nameOf(resource, verb));
  }

  /** Call it right before the operation is sent. Other objects that want it wait for the answer. */
  tried(resource: Operations, verb: Changing): void {
    this.#refusals.get(nameOf(resource, verb))?.breaker.begin(PROBE_SECONDS);
  }

  /**
   * Whether the operation may be sent now: it is documented or may be tried, and the service never refused it, or it is
   * due to be tried again.
   */
  mayTry(resource: Operations, verb: Changing): boolean {
    return this.#exists(resource, verb) && this.secondsUntilTry(resource, verb) === 0;
  }

  /** Seconds until an operation that was refused is tried again. */
  secondsUntilTry(resource: Operations, verb: Changing): number {
    return this.#refusals.get(nameOf(resource, verb))?.breaker.secondsLeft ?? 0;
  }

  /** What the answers of the service say about an operation. */
  of(resource: Operations, verb: Changing): Support {
    if (!this.#exists(resource, verb)) return "unsupported";
    const refusals = this.#refusals.get(nameOf(resource, verb));
    if (!refusals) return "supported";
    return refusals.isCertain ? "unsupported" : "refused";
  }

  #exists({ verbs }: Operations, verb: Changing): boolean {
    return verbs[verb] === "documented" || (verbs[verb] === "undocumented" && this.triesUndocumented);
  }
}

const nameOf = ({ name }: Operations, verb: Changing): string => `${name}:${verb}`;
