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
 * Counts how often in a row the same fields of one object were corrected. When the service or another client changes
 * the value back each time, the operator uses the count to stop correcting it.
 */
export class Corrections {
  readonly #clock: Clock;
  #last: Count | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  count(object: ManagedObject, fields: readonly string[]): number {
    const last = this.#last;
    const isCurrent = last?.correction === correctionOf(object, fields) && this.#clock.now() - last.at < MEMORY_MS;
    return isCurrent ? last.count : 0;
  }

  /**
   * Returns the new count. `repeated`: false when the last correction held until now and no other client changed these
   * fields.
   */
  record(object: ManagedObject, fields: readonly string[], repeated: boolean): number {
    const count = repeated ? this.count(object, fields) + 1 : 0;
    this.#last = repeated ? { correction: correctionOf(object, fields), count, at: this.#clock.now() } : undefined;
    return count;
  }
}

const correctionOf = ({ metadata }: ManagedObject, fields: readonly string[]): string =>
  `${metadata.generation} ${fields.join(" ")}`;
