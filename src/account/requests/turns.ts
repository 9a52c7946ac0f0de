import { Outdated, Postponed } from "../../objects/reconcile-error.ts";
import type { Clock, Timer } from "../../runtime/clock.ts";
import type { ObjectRecord, Place } from "../object-record.ts";
import type { Lane, RequestBudget } from "./request-budget.ts";
import { type Turn, waitFor } from "./turn.ts";

/** How a request waits for the budget. */
interface Asking {
  lane: Lane;
  signal: AbortSignal;
  turn?: Turn | undefined;
}

/** A place in the line of this account. */
interface OwnPlace extends Place {
  readonly turns: Turns;
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

  constructor(budget: RequestBudget, clock: Clock) {
    this.budget = budget;
    this.#clock = clock;
  }

  /** Resolves when one request may be sent. Throws Postponed when the reconcile has to give its worker back. */
  async acquire(asking: Asking): Promise<void> {
    const { turn, lane, signal } = asking;
    if (!turn) return this.budget.acquire(lane, signal);
    // The service may have asked for a pause since the place was granted.
    if (turn.state === "reserved" && this.budget.isPaused) this.#giveBack(turn);
    if (turn.state === "none") await this.reserve(asking);
    else if (turn.state !== "reserved") await this.#goOn(turn, asking);
    turn.state = "begun";
  }

  /** Like `acquire`, but sends nothing: the next request of the reconcile may be sent at once. */
  async reserve({ turn, lane, signal }: Asking): Promise<void> {
    if (turn?.state !== "none") return;
    const { record } = turn;
    turn.state = "asked";
    signal.throwIfAborted();
    if (this.budget.isPaused && record.place?.isGranted) record.place.leave();
    if (record.place || !this.budget.tryAcquire(lane)) {
      const place = this.#placeOf(record, lane);
      await waitFor(place.granted, { signal, turn });
      place.expiry?.clear();
      if (record.place === place) record.place = undefined;
    }
    turn.state = "reserved";
  }

  /** Call it when the request was not sent. The reconcile may have to wait again before its next request. */
  refund(turn: Turn | undefined): void {
    this.budget.refund();
    if (turn) turn.state = "none";
  }

  /** Call it at the end of a reconcile that was not postponed. */
  end(turn: Turn): void {
    this.#giveBack(turn);
    turn.record.wait = undefined;
    turn.record.place?.leave();
  }

  /** Call it at the end of a reconcile that was postponed. */
  pause(turn: Turn, until: Promise<unknown>): void {
    this.#giveBack(turn);
    const wait: { failure?: unknown } = {};
    turn.record.wait = wait;
    until.catch((error: unknown) => {
      if (!(error instanceof Outdated)) wait.failure = error;
    });
  }

  /**
   * Call it when a reconcile begins. Throws the error of the wait for which the previous reconcile was postponed.
   * Otherwise each reconcile would start the same wait again, and the object would never report the error.
   */
  resume({ record }: Turn): void {
    const { failure } = record.wait ?? {};
    record.wait = undefined;
    if (failure !== undefined) throw failure;
  }

  #giveBack(turn: Turn): void {
    if (turn.state === "reserved") this.budget.refund();
    turn.state = "none";
  }

  async #goOn(turn: Turn, { lane, signal }: Asking): Promise<void> {
    signal.throwIfAborted();
    const abort = new AbortController();
    const acquired = this.budget.acquire(lane, abort.signal, "begun");
    try {
      await waitFor(acquired, { signal, turn }, () => this.budget.isPaused);
    } catch (error) {
      // The place is given up. If the request was granted at this moment, it is not sent.
      acquired.then(
        () => this.budget.refund(),
        () => undefined,
      );
      abort.abort(error);
      throw error instanceof Postponed ? new Postponed(this.#placeOf(turn.record, lane).granted) : error;
    }
  }

  #placeOf(record: ObjectRecord, lane: Lane): OwnPlace {
    const known = record.place as OwnPlace | undefined;
    if (known?.turns === this && (known.isGranted || known.lane === lane)) return known;
    known?.leave();
    const abort = new AbortController();
    const granted = this.budget.acquire(lane, abort.signal);
    const place: OwnPlace = {
      turns: this,
      lane,
      granted,
      isGranted: false,
      leave: () => {
        if (record.place === place) record.place = undefined;
        place.expiry?.clear();
        if (place.isGranted) this.budget.refund();
        else abort.abort(new Outdated("The object does not wait any longer"));
      },
    };
    record.place = place;
    granted.then(
      () => {
        place.isGranted = true;
        place.expiry = this.#clock.setTimeout(() => place.leave(), EXPIRY_MS);
      },
      () => {
        if (record.place === place) record.place = undefined;
      },
    );
    return place;
  }
}
