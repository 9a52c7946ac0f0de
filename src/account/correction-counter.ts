import type { ManagedObject } from "../objects/object.ts";
import type { Clock } from "../runtime/clock.ts";

/** After so long without the same correction, the next one is the first again. */
const MEMORY_MS = 60 * 60_000;

interface Count {
  /** The correction, as a text: generation and fields. */
  correction: string;
  count: number;
  at: number;
}

/**
 * Counts how often the same fields of an object had to be put right in a row, so that a value which the service or
 * somebody else keeps changing back is not fought over for ever.
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

  /** Returns the rounds by now. `repeated`: false when the correction held and nobody else is known to interfere. */
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
