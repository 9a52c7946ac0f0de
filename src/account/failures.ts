import { type GatewayError, isForbidden, isUnauthorized, isUnavailable } from "../gateway/errors.ts";
import { Retry, Waiting } from "../objects/reconcile-error.ts";
import { type BackoffOptions, delayAfter, type Random } from "../runtime/backoff.ts";
import type { Clock } from "../runtime/clock.ts";
import type { FailedAttempt, Failure, ObjectRecord } from "./object-record.ts";
import { Breaker } from "./requests/breaker.ts";

/** After a failure that may end by itself. */
const FAILED: BackoffOptions = { base: 1, cap: 5 * 60 };

/** After the service refused the key on one route: somebody may be about to grant the permission. */
const DENIED: BackoffOptions = { base: 60, cap: 3600, jitter: 0 };

/**
 * After the service refused the content of a request. An attempt may cost two requests, so in the long run there is one
 * an hour.
 */
const REFUSED: BackoffOptions = { base: 30 * 60, cap: 3600, jitter: 0 };

/** After up to this many failures in a row, a change that may end the failure triggers an attempt without delay. */
const UNDELAYED_FAILURES = 3;

/** When this many objects fail on one route, they are tried one at a time. */
const TURNS_FROM = 5;
const TURNS: BackoffOptions = { base: 2, cap: 60, jitter: 0 };

interface Route {
  /** The objects whose last attempt failed there. */
  readonly records: Set<ObjectRecord>;
  /** Open while they are tried one at a time. */
  breaker: Breaker;
  /** When any object last succeeded on this route. Monotonic milliseconds. */
  answeredAt: number;
  /** When an object that had failed on this route last succeeded, which released the others. Monotonic milliseconds. */
  releasedAt: number;
}

/**
 * What has failed in one account, by object and by route (method and path, without ids).
 *
 * - An object that failed is not tried again before its own delay is over, whatever triggers a reconcile.
 * - Where several objects fail on one route, they are tried one at a time, less and less often. When one of them
 *   succeeds, the others are released.
 * - An object that has not failed never waits.
 */
export class Failures {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #onReleased: () => void;
  /** The objects whose last attempt failed. */
  readonly #failed = new Set<ObjectRecord>();
  readonly #routes = new Map<string, Route>();

  /** `onReleased` is called when objects that were waiting may be tried. */
  constructor(clock: Clock, onReleased: () => void = () => {}, random: Random = Math.random) {
    this.#clock = clock;
    this.#onReleased = onReleased;
    this.#random = random;
  }

  /** The last failure of an object in this account, until it succeeds. */
  of({ failed }: ObjectRecord): FailedAttempt | undefined {
    return failed?.failures === this ? failed : undefined;
  }

  /** Call it before an object is tried in this account. Its failure in another one no longer matters. */
  begin(record: ObjectRecord): void {
    if (record.failed?.failures !== this) record.failed?.failures.forget(record);
  }

  /** Seconds until the object may be tried again. */
  secondsLeft(record: ObjectRecord): number {
    const attempt = this.of(record);
    if (!attempt) return 0;
    return Math.max((attempt.until - this.#now()) / 1000, this.#turns(attempt)?.secondsLeft ?? 0, 0);
  }

  /**
   * Call it when somebody has changed something that may end the failure, although the object asks for the same as
   * before. After the first failures the object is tried at once. After more failures it waits longer, however many
   * such changes there are.
   */
  retrySooner(record: ObjectRecord): void {
    const attempt = this.of(record);
    if (!attempt) return;
    const further = attempt.count - UNDELAYED_FAILURES;
    const delay = further > 0 ? delayAfter({ ...FAILED, jitter: 0 }, further - 1, this.#random) : 0;
    record.failed = { ...attempt, until: Math.min(attempt.until, attempt.at + delay * 1000) };
  }

  /** Call it right before the object is tried. The other objects that failed on the same route wait for their turn. */
  recordAttempt(record: ObjectRecord): void {
    const attempt = this.of(record);
    if (attempt) this.#turns(attempt)?.begin();
  }

  failed(record: ObjectRecord, failure: Failure): void {
    this.begin(record);
    const before = this.forget(record);
    if (record.isEnded) return;
    const { cause, error } = failure;
    const route = `${cause.method} ${cause.route}`;
    const count = before && isSameRequest(before, failure) ? before.count + 1 : 1;
    const delay = delayAfter(delaysAfter(failure), count - 1, this.#random);
    const at = this.#now();
    const until = at + Math.max(delay, error.afterSeconds ?? 0) * 1000;
    record.failed = { ...failure, failures: this, route, count, at, until, isReleased: false };
    record.hasFailed = true;
    this.#failed.add(record);
    if (isOfRoute(cause)) this.#failedOnRoute(route, record, before);
  }

  /** Forgets the failures of the object. Other objects that failed on the same route are released. */
  succeeded(record: ObjectRecord): void {
    const attempt = this.forget(record);
    const route = attempt && this.#routes.get(attempt.route);
    // A success says nothing about failures after the last release if this object had failed before that release.
    if (!route || attempt.at <= route.releasedAt) return;
    this.#answered(route);
    route.releasedAt = this.#now();
    this.#release((other) => other.route === attempt.route && isOfRoute(other.cause));
  }

  /**
   * Call it when a request to this route (`<method> <path>`) succeeded. Objects that failed on the route before need no
   * turns.
   */
  answered(route: string): void {
    const found = this.#routes.get(route);
    if (found) found.answeredAt = this.#now();
  }

  /**
   * Call it when the account works again. `at`: since when it was unreachable or refused the key. Objects that failed
   * after that may be tried.
   */
  releaseSince(at: number): void {
    for (const route of this.#routes.values()) this.#answered(route);
    this.#release((attempt) => attempt.at >= at);
  }

  /** Call it when the object has ended, or failed in another account since. Returns its failure, if there was one. */
  forget(record: ObjectRecord): FailedAttempt | undefined {
    const attempt = this.of(record);
    if (!attempt) return undefined;
    record.failed = undefined;
    this.#failed.delete(record);
    const records = this.#routes.get(attempt.route)?.records;
    records?.delete(record);
    if (records?.size === 0) this.#routes.delete(attempt.route);
    return attempt;
  }

  /** Ends the delays of these failures. The counts stay, so a further failure is followed by a longer delay. */
  #release(isReleased: (attempt: FailedAttempt) => boolean): void {
    const until = this.#now();
    const released = [...this.#failed].filter(({ failed }) => failed && isReleased(failed));
    for (const record of released) if (record.failed) record.failed = { ...record.failed, until, isReleased: true };
    if (released.length > 0) this.#onReleased();
  }

  /** What makes objects take turns because of this failure. Undefined: all objects may be tried. */
  #turns({ route, cause, at }: FailedAttempt): Breaker | undefined {
    const found = isOfRoute(cause) ? this.#routes.get(route) : undefined;
    return found && found.records.size >= TURNS_FROM && at > found.answeredAt ? found.breaker : undefined;
  }

  #failedOnRoute(name: string, record: ObjectRecord, before: FailedAttempt | undefined): void {
    const route = this.#routes.get(name) ?? {
      breaker: new Breaker(TURNS, this.#clock),
      answeredAt: Number.NEGATIVE_INFINITY,
      releasedAt: Number.NEGATIVE_INFINITY,
      records: new Set<ObjectRecord>(),
    };
    this.#routes.set(name, route);
    route.records.add(record);
    // Objects that were released are tried together. Their failures do not make the turns longer.
    const isAgain = before?.route === name && !before.isReleased;
    if (route.records.size < TURNS_FROM) return;
    if (!route.breaker.isOpen) route.breaker.open();
    else if (isAgain) route.breaker.failed();
    else route.breaker.hold();
  }

  #answered(route: Route): void {
    route.answeredAt = this.#now();
    route.breaker = new Breaker(TURNS, this.#clock);
  }

  #now = (): number => this.#clock.now();
}

/** Values that were not read because of a failure are not compared. */
const isSameRequest = (one: Failure, other: Failure): boolean =>
  one.asked === other.asked && (one.inputs === undefined || other.inputs === undefined || one.inputs === other.inputs);

/** The service may answer other objects on this route in the same way. */
const isOfRoute = (cause: GatewayError): boolean => isUnavailable(cause) || isUnauthorized(cause) || isForbidden(cause);

function delaysAfter({ error, cause }: Failure): BackoffOptions {
  // A deletion that waits for something else is not the object's fault either.
  if (error instanceof Retry || error instanceof Waiting) return FAILED;
  return isUnauthorized(cause) || isForbidden(cause) ? DENIED : REFUSED;
}
