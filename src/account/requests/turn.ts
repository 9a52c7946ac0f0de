import { Postponed } from "../../objects/reconcile-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { ObjectRecord } from "../object-record.ts";

/**
 * A reconcile that waits longer than this is postponed. Most waits are shorter, and a second run of the reconcile costs
 * more.
 */
const POSTPONE_AFTER_MS = 1000;

/** How far one reconcile has come with its requests to an account. */
export class Turn {
  readonly record: ObjectRecord;
  readonly clock: Clock;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /**
   * - `none`: no request was sent or asked for yet.
   * - `asked`: the first request waits for the budget.
   * - `reserved`: a request may be sent at once.
   * - `begun`: a request was sent. Further requests go first, so that the reconcile ends soon.
   */
  state: "none" | "asked" | "reserved" | "begun" = "none";

  constructor(record: ObjectRecord, clock: Clock) {
    this.record = record;
    this.clock = clock;
    this.startedAt = clock.now();
  }
}

/**
 * How to wait. With `turn`, the waiting reconcile may be postponed. Without it, the wait belongs to background work and
 * may not.
 */
export interface WaitOptions {
  signal?: AbortSignal | undefined;
  turn?: Pick<Turn, "clock"> | undefined;
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
  if (!signal?.aborted && (await isSettled(work))) return work;
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

/** Most callers wait for work that has ended long ago. They need neither a timer nor a listener. */
async function isSettled(work: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  work.then(settle, settle);
  await null;
  return settled;
}
