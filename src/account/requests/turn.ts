import { Postponed } from "../../objects/reconcile-error.ts";
import type { Clock } from "../../runtime/clock.ts";

/** Most waits are shorter, and to run a reconcile again costs more than so short a wait. */
const POSTPONE_AFTER_MS = 1000;

/** The part of one reconcile in the requests of an account. */
export class Turn {
  readonly uid: string;
  readonly clock: Clock;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /**
   * - `none`: no request was sent or asked for yet.
   * - `asked`: the first request waits for the budget.
   * - `held`: a request may be sent at once.
   * - `begun`: a request was sent. Those that follow go first, so that the reconcile gets to its end.
   */
  state: "none" | "asked" | "held" | "begun" = "none";

  constructor(uid: string, clock: Clock) {
    this.uid = uid;
    this.clock = clock;
    this.startedAt = clock.now();
  }
}

/** Who waits: a reconcile with its turn, which may be postponed, or something in the background, which may not. */
export interface WaitOptions {
  signal?: AbortSignal | undefined;
  turn?: Turn | undefined;
}

/**
 * Resolves as `work` does. A reconcile that has waited for a second gives its worker back: then this throws Postponed.
 * `mayPostpone`: whether a later reconcile would find what this one waits for. Rejects as soon as the signal is aborted;
 * the work goes on, since others may share it.
 */
export async function waitFor<T>(
  work: Promise<T>,
  { signal, turn }: WaitOptions,
  mayPostpone: () => boolean = () => true,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const abort = () => reject(signal?.reason);
  const wait = () => turn?.clock.setTimeout(giveUp, POSTPONE_AFTER_MS);
  const giveUp = () => {
    if (mayPostpone()) reject(new Postponed(work));
    else timer = wait();
  };
  let timer = wait();
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  work.then(resolve, reject);
  try {
    return await promise;
  } finally {
    timer?.clear();
    signal?.removeEventListener("abort", abort);
  }
}
