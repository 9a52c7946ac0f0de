import { type Intent, settledAt, settleTimeMs } from "../objects/intent.ts";
import type { ManagedObject } from "../objects/object.ts";
import type { Clock } from "../runtime/clock.ts";

interface Settlement {
  /** `last` of the intent. */
  last: number;
  /** Monotonic milliseconds. */
  at: number;
}

/**
 * When a create whose answer was lost is settled: from then on, a remote that does not exist was not created and will
 * not be. Intents of this process are timed by the monotonic clock, which nobody can set. For an intent of an earlier
 * process the time of the service is read once, since both processes know it, and the wait is never longer than for an
 * intent that is recorded now.
 */
export class CreateSettlement {
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #settlements = new Map<string, Settlement>();

  constructor(clock: Clock, deadlineMs: number) {
    this.#clock = clock;
    this.#deadlineMs = deadlineMs;
  }

  /** Call it before the intent is written. `at`: the monotonic time at which `last` was read. */
  recordIntent({ metadata }: ManagedObject, { last }: Intent, at: number): void {
    this.#settlements.set(metadata.uid, { last, at: at + settleTimeMs(this.#deadlineMs) });
  }

  /** Call it when an answer has ended the create of this intent, whatever it says: nothing of it can arrive later. */
  recordAnswer({ metadata }: ManagedObject, { last }: Intent): void {
    this.#settlements.set(metadata.uid, { last, at: this.#clock.now() });
  }

  /** Milliseconds until the create is settled; negative when it is settled. `serviceTime`: see ServiceTime. */
  remainingMs({ metadata }: ManagedObject, intent: Intent, serviceTime: number): number {
    const now = this.#clock.now();
    const known = this.#settlements.get(metadata.uid);
    if (known?.last === intent.last) return known.at - now;
    const byDate = settledAt(intent, this.#deadlineMs) - serviceTime;
    const wait = Math.min(byDate, settleTimeMs(this.#deadlineMs));
    // Somebody may edit the annotation. An edit can delay a create, but never make it count as settled earlier.
    const at = Math.max(known?.at ?? Number.NEGATIVE_INFINITY, now + wait);
    this.#settlements.set(metadata.uid, { last: intent.last, at });
    return at - now;
  }

  forget(uid: string): void {
    this.#settlements.delete(uid);
  }
}
