import type { Clock } from "../runtime/clock.ts";

/** An entry this long overdue is dropped: the remote was deleted, or no object has it any more. */
const LONGEST_DEFERRED_MS = 3_600_000;

/** When the operator looks again at replaced remotes that cannot be deleted yet. */
export class DeferredDeletes {
  readonly #clock: Clock;
  readonly #deferred = new Map<string, { until: number; seconds: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The remote cannot be deleted now. Each time in a row the delay doubles, from `first` to `longest` seconds. */
  defer(id: string, [first, longest]: readonly [first: number, longest: number]): void {
    const now = this.#clock.now();
    for (const [other, { until }] of this.#deferred)
      if (until + LONGEST_DEFERRED_MS <= now) this.#deferred.delete(other);
    const before = this.#deferred.get(id)?.seconds ?? 0;
    const seconds = Math.min(Math.max(before * 2, first), longest);
    this.#deferred.set(id, { until: now + seconds * 1000, seconds });
  }

  /** 0 when the remote may be looked at now. */
  secondsUntil(id: string): number {
    const deferred = this.#deferred.get(id);
    return deferred ? Math.max((deferred.until - this.#clock.now()) / 1000, 0) : 0;
  }
}
