import { type Intent, settledAt, settleTimeMs } from "../objects/intent.ts";
import type { ManagedObject } from "../objects/object.ts";
import type { Clock } from "../runtime/clock.ts";

interface Known {
  /** Of the intent that this is about. */
  last: number;
  /** Milliseconds of a clock that nobody sets. */
  at: number;
}

/**
 * When it is certain that a create whose answer was lost came to nothing. The calendar may be set, forward and back, at
 * any time. What this process has recorded itself it counts from then by a clock that only runs; for what it finds the
 * calendar is asked once, and its answer is no later than if the intent had been recorded right then.
 */
export class CreateSettlement {
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #known = new Map<string, Known>();

  constructor(clock: Clock, deadlineMs: number) {
    this.#clock = clock;
    this.#deadlineMs = deadlineMs;
  }

  /** This process is about to record the intent, and read its time `at` this moment. */
  recordIntent({ metadata }: ManagedObject, { last }: Intent, at: number): void {
    this.#known.set(metadata.uid, { last, at: at + settleTimeMs(this.#deadlineMs) });
  }

  /** Milliseconds from now; negative when it is certain already. */
  remainingMs({ metadata }: ManagedObject, intent: Intent): number {
    const now = this.#clock.now();
    const known = this.#known.get(metadata.uid);
    if (known?.last === intent.last) return known.at - now;
    const byCalendar = settledAt(intent, this.#deadlineMs) - this.#clock.date().getTime();
    const wait = Math.min(byCalendar, settleTimeMs(this.#deadlineMs));
    this.#known.set(metadata.uid, { last: intent.last, at: now + wait });
    return wait;
  }

  /** The object is no more. */
  forget(uid: string): void {
    this.#known.delete(uid);
  }
}
