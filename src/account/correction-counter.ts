import type { ManagedObject } from "../objects/object.ts";
import type { Clock } from "../runtime/clock.ts";

/** A correction is forgotten when it was not repeated for this long. */
const MEMORY_MS = 60 * 60_000;

interface Count {
  /** Generation and fields as one text. */
  correction: string;
  count: number;
  at: number;
}

/**
 * Counts how often in a row the same fields of an object were corrected. When the service or another client changes the
 * value back each time, the operator uses the count to stop correcting it.
 */
export class CorrectionCounter {
  readonly #clock: Clock;
  readonly #counts = new Map<string, Count>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  count(object: ManagedObject, fields: readonly string[]): number {
    const known = this.#counts.get(object.metadata.uid);
    const current = known?.correction === correctionOf(object, fields) && this.#clock.now() - known.at < MEMORY_MS;
    return current ? known.count : 0;
  }

  /**
   * Returns the new count. `repeated`: false when the last correction held until now and no other client changed these
   * fields.
   */
  record(object: ManagedObject, fields: readonly string[], repeated: boolean): number {
    if (!repeated) {
      this.#counts.delete(object.metadata.uid);
      return 0;
    }
    const count = this.count(object, fields) + 1;
    this.#counts.set(object.metadata.uid, { correction: correctionOf(object, fields), count, at: this.#clock.now() });
    return count;
  }

  forget(uid: string): void {
    this.#counts.delete(uid);
  }
}

const correctionOf = ({ metadata }: ManagedObject, fields: readonly string[]): string =>
  `${metadata.generation} ${fields.join(" ")}`;
