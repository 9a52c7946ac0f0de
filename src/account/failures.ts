import { type GatewayError, isForbidden, isUnauthorized, isUnavailable } from "../gateway/errors.ts";
import { type ReconcileError, Retry, Waiting } from "../objects/reconcile-error.ts";
import type { Random } from "../runtime/backoff.ts";
import type { Clock } from "../runtime/clock.ts";

/** The delay in milliseconds after a first failure, and the longest delay. It doubles with each further failure. */
interface Delays {
  readonly first: number;
  readonly longest: number;
  /** The share of a delay that is fixed. The rest is random. */
  readonly certain: number;
}

const MINUTE_MS = 60_000;

/** After a failure that may end by itself. */
const FAILED: Delays = { first: 1000, longest: 5 * MINUTE_MS, certain: 0 };

/** After the service refused the key on one route: somebody may be about to grant the permission. */
const DENIED: Delays = { first: MINUTE_MS, longest: 60 * MINUTE_MS, certain: 1 };

/**
 * After the service refused the content of a request. An attempt may cost two requests, so in the long run there is one
 * an hour.
 */
const REFUSED: Delays = { first: 30 * MINUTE_MS, longest: 60 * MINUTE_MS, certain: 1 };

/** After up to this many failures in a row, a change that may end the failure triggers an attempt without delay. */
const UNDELAYED_FAILURES = 3;

/** When this many objects fail on one route, they are tried one at a time. */
const TURNS_FROM = 5;
const FIRST_TURN_MS = 2000;
const LONGEST_TURN_MS = MINUTE_MS;
const NO_TURN = { turnMs: FIRST_TURN_MS, nextTurnAt: 0 };

/** A failed attempt of one object. */
export interface Failure {
  /** The error that the status of the object reports. */
  readonly error: ReconcileError;
  /** The error that the service answered with. */
  readonly cause: GatewayError;
  /** What the object asked for. An object that asks for something else is tried at once. */
  readonly asked: string;
  /** Digest of the values that the spec refers to. Undefined: the attempt failed before they were read. */
  readonly inputs: string | undefined;
  /** Whether the failure may end without an edit of the object, for example when somebody changes another object. */
  readonly isTransient: boolean;
}

interface Entry extends Failure {
  readonly route: string;
  readonly count: number;
  readonly at: number;
  readonly until: number;
  /** Whether the account or the route has answered since, so that the object may be tried at once. */
  readonly isReleased: boolean;
}

interface Route {
  /** The objects whose last attempt failed there. */
  readonly uids: Set<string>;
  turnMs: number;
  nextTurnAt: number;
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
  readonly #entries = new Map<string, Entry>();
  readonly #routes = new Map<string, Route>();

  /** `onReleased` is called when objects that were waiting may be tried. */
  constructor(clock: Clock, onReleased: () => void = () => {}, random: Random = Math.random) {
    this.#clock = clock;
    this.#onReleased = onReleased;
    this.#random = random;
  }

  /** The last failure of an object, until it succeeds. */
  of(uid: string): Failure | undefined {
    return this.#entries.get(uid);
  }

  /** Seconds until the object may be tried again. */
  secondsLeft(uid: string): number {
    const entry = this.#entries.get(uid);
    if (!entry) return 0;
    const { nextTurnAt = 0 } = this.#turns(entry) ?? {};
    return Math.max(entry.until - this.#now(), nextTurnAt - this.#now(), 0) / 1000;
  }

  /**
   * Call it when somebody has changed something that may end the failure, although the object asks for the same as
   * before. After the first failures the object is tried at once. After more failures it waits longer, however many
   * such changes there are.
   */
  retrySooner(uid: string): void {
    const entry = this.#entries.get(uid);
    if (!entry) return;
    const until = entry.at + (entry.count > UNDELAYED_FAILURES ? grown(FAILED, entry.count - UNDELAYED_FAILURES) : 0);
    if (until < entry.until) this.#entries.set(uid, { ...entry, until });
  }

  /** Call it right before the object is tried. The other objects that failed on the same route wait for their turn. */
  recordAttempt(uid: string): void {
    const entry = this.#entries.get(uid);
    const turns = entry && this.#turns(entry);
    if (turns) turns.nextTurnAt = this.#now() + turns.turnMs;
  }

  failed(uid: string, failure: Failure): void {
    const { cause } = failure;
    const route = `${cause.method} ${cause.route}`;
    const before = this.#remove(uid);
    const count = before && isSameRequest(before, failure) ? before.count + 1 : 1;
    const delay = this.#delay(delaysAfter(failure), count);
    const atLeast = (failure.error.afterSeconds ?? 0) * 1000;
    const at = this.#now();
    this.#entries.set(uid, {
      ...failure,
      route,
      count,
      at,
      until: at + Math.max(delay, atLeast),
      isReleased: false,
    });
    if (isOfRoute(cause)) this.#failedOnRoute(route, uid, before);
  }

  /** Forgets the failures of the object. Other objects that failed on the same route are released. */
  succeeded(uid: string): void {
    const entry = this.#remove(uid);
    const route = entry && this.#routes.get(entry.route);
    // A success says nothing about failures after the last release if this object had failed before that release.
    if (!route || entry.at <= route.releasedAt) return;
    Object.assign(route, { ...NO_TURN, answeredAt: this.#now(), releasedAt: this.#now() });
    this.#release((other) => other.route === entry.route && isOfRoute(other.cause));
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
    for (const route of this.#routes.values()) Object.assign(route, { ...NO_TURN, answeredAt: this.#now() });
    this.#release((entry) => entry.at >= at);
  }

  /** Call it when the account gets another key. All objects may be tried. */
  releaseAll(): void {
    this.releaseSince(Number.NEGATIVE_INFINITY);
  }

  forget(uid: string): void {
    this.#remove(uid);
  }

  #remove(uid: string): Entry | undefined {
    const entry = this.#entries.get(uid);
    if (!entry) return undefined;
    this.#entries.delete(uid);
    const uids = this.#routes.get(entry.route)?.uids;
    uids?.delete(uid);
    if (uids?.size === 0) this.#routes.delete(entry.route);
    return entry;
  }

  /** Ends the delays of these failures. The counts stay, so a further failure is followed by a longer delay. */
  #release(isReleased: (entry: Entry) => boolean): void {
    const released = [...this.#entries].filter(([, entry]) => isReleased(entry));
    for (const [uid, entry] of released) this.#entries.set(uid, { ...entry, until: this.#now(), isReleased: true });
    if (released.length > 0) this.#onReleased();
  }

  /** The route on which objects take turns because of this failure. Undefined: all objects may be tried. */
  #turns({ route, cause, at }: Entry): Route | undefined {
    const found = isOfRoute(cause) ? this.#routes.get(route) : undefined;
    return found && found.uids.size >= TURNS_FROM && at > found.answeredAt ? found : undefined;
  }

  #failedOnRoute(name: string, uid: string, before: Entry | undefined): void {
    const route = this.#routes.get(name) ?? {
      ...NO_TURN,
      answeredAt: Number.NEGATIVE_INFINITY,
      releasedAt: Number.NEGATIVE_INFINITY,
      uids: new Set<string>(),
    };
    route.uids.add(uid);
    // Objects that were released are tried together. Their failures do not make the turns longer.
    const again = before?.route === name && !before.isReleased;
    if (again && route.uids.size >= TURNS_FROM) route.turnMs = Math.min(route.turnMs * 2, LONGEST_TURN_MS);
    route.nextTurnAt = this.#now() + route.turnMs;
    this.#routes.set(name, route);
  }

  #delay(delays: Delays, count: number): number {
    const { certain } = delays;
    return grown(delays, count) * (certain + (1 - certain) * this.#random());
  }

  #now = (): number => this.#clock.now();
}

const grown = ({ first, longest }: Delays, count: number): number => Math.min(first * 2 ** (count - 1), longest);

/** Values that were not read because of a failure are not compared. */
const isSameRequest = (one: Failure, other: Failure): boolean =>
  one.asked === other.asked && (one.inputs === undefined || other.inputs === undefined || one.inputs === other.inputs);

/** The service may answer other objects on this route in the same way. */
const isOfRoute = (cause: GatewayError): boolean => isUnavailable(cause) || isUnauthorized(cause) || isForbidden(cause);

function delaysAfter({ error, cause }: Failure): Delays {
  // A deletion that waits for something else is not the object's fault either.
  if (error instanceof Retry || error instanceof Waiting) return FAILED;
  return isUnauthorized(cause) || isForbidden(cause) ? DENIED : REFUSED;
}
