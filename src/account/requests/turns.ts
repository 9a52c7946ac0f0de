import { Outdated, Postponed } from "../../objects/reconcile-error.ts";
import type { Clock, Timer } from "../../runtime/clock.ts";
import type { Lane, RequestBudget } from "./request-budget.ts";
import { type Turn, waitFor } from "./turn.ts";

/** How a request waits for the budget. */
interface Asking {
  lane: Lane;
  signal: AbortSignal;
  turn?: Turn | undefined;
}

interface Place {
  lane: Lane;
  isGranted: boolean;
  granted: Promise<void>;
  leave: AbortController;
  expiry?: Timer;
}

/**
 * How long a granted place is kept for its reconcile, which is expected at once. If none comes, the object is probably
 * gone, or all workers wait for a slow service. The requests that are set aside are then no more than a burst.
 */
const EXPIRY_MS = 12_000;

/**
 * The places of objects in the line for the request budget. A reconcile that would have to wait is postponed, keeps its
 * place, and runs again when a request may be sent for it. So it waits without a worker. Once it has sent a request, it
 * waits for the further ones in its worker, ahead of all others, unless the service has asked for a pause.
 */
export class Turns {
  readonly budget: RequestBudget;
  readonly #clock: Clock;
  readonly #places = new Map<string, Place>();
  /** By the uid of an object: the wait for which its reconcile was postponed. `failure`: why that wait failed. */
  readonly #waits = new Map<string, { failure?: unknown }>();

  constructor(budget: RequestBudget, clock: Clock) {
    this.budget = budget;
    this.#clock = clock;
  }

  /** Resolves when one request may be sent. Throws Postponed when the reconcile has to give its worker back. */
  async acquire(asking: Asking): Promise<void> {
    const { turn, lane, signal } = asking;
    if (!turn) return this.budget.acquire(lane, signal);
    // The service may have asked for a pause since the place was granted.
    if (turn.state === "held" && this.budget.isPaused) this.#giveBack(turn);
    if (turn.state === "none") await this.hold(asking);
    else if (turn.state !== "held") await this.#goOn(turn, asking);
    turn.state = "begun";
  }

  /** Like `acquire`, but sends nothing: the next request of the reconcile may be sent at once. */
  async hold({ turn, lane, signal }: Asking): Promise<void> {
    if (turn?.state !== "none") return;
    turn.state = "asked";
    signal.throwIfAborted();
    if (this.budget.isPaused && this.#places.get(turn.uid)?.isGranted) this.leave(turn.uid);
    if (this.#places.has(turn.uid) || !this.budget.tryAcquire(lane)) {
      const place = this.#placeOf(turn.uid, lane);
      await waitFor(place.granted, { signal, turn });
      place.expiry?.clear();
      this.#places.delete(turn.uid);
    }
    turn.state = "held";
  }

  /** Whether the object waits for its turn or has it. */
  has(uid: string): boolean {
    return this.#places.has(uid);
  }

  /** Call it when the request was not sent. The reconcile may have to wait again before its next request. */
  refund(turn: Turn | undefined): void {
    this.budget.refund();
    if (turn) turn.state = "none";
  }

  /** Call it at the end of a reconcile that was not postponed. */
  end(turn: Turn): void {
    this.#giveBack(turn);
    this.forget(turn.uid);
  }

  /** Call it at the end of a reconcile that was postponed. */
  pause(turn: Turn, until: Promise<unknown>): void {
    this.#giveBack(turn);
    const wait: { failure?: unknown } = {};
    this.#waits.set(turn.uid, wait);
    until.catch((error: unknown) => {
      if (!(error instanceof Outdated)) wait.failure = error;
    });
  }

  /**
   * Call it when a reconcile begins. Throws the error of the wait for which the previous reconcile was postponed.
   * Otherwise each reconcile would start the same wait again, and the object would never report the error.
   */
  resume({ uid }: Turn): void {
    const { failure } = this.#waits.get(uid) ?? {};
    this.#waits.delete(uid);
    if (failure !== undefined) throw failure;
  }

  /** Call it when the object is gone. */
  forget(uid: string): void {
    this.#waits.delete(uid);
    this.leave(uid);
  }

  /** Gives up the place of the object. */
  leave(uid: string): void {
    const place = this.#places.get(uid);
    if (!place) return;
    this.#places.delete(uid);
    place.expiry?.clear();
    if (place.isGranted) this.budget.refund();
    else place.leave.abort(new Outdated("The object does not wait any longer"));
  }

  #giveBack(turn: Turn): void {
    if (turn.state === "held") this.budget.refund();
    turn.state = "none";
  }

  async #goOn(turn: Turn, { lane, signal }: Asking): Promise<void> {
    signal.throwIfAborted();
    const left = new AbortController();
    const acquired = this.budget.acquire(lane, left.signal, "begun");
    try {
      await waitFor(acquired, { signal, turn }, () => this.budget.isPaused);
    } catch (error) {
      // The place is given up. If the request was granted at this moment, it is not sent.
      acquired.then(
        () => this.budget.refund(),
        () => undefined,
      );
      left.abort(error);
      throw error instanceof Postponed ? new Postponed(this.#placeOf(turn.uid, lane).granted) : error;
    }
  }

  #placeOf(uid: string, lane: Lane): Place {
    const known = this.#places.get(uid);
    if (known?.isGranted || known?.lane === lane) return known;
    this.leave(uid);
    const leave = new AbortController();
    const granted = this.budget.acquire(lane, leave.signal);
    const place: Place = { lane, leave, granted, isGranted: false };
    this.#places.set(uid, place);
    granted.then(
      () => {
        place.isGranted = true;
        place.expiry = this.#clock.setTimeout(() => this.leave(uid), EXPIRY_MS);
      },
      () => {
        if (this.#places.get(uid) === place) this.#places.delete(uid);
      },
    );
    return place;
  }
}
