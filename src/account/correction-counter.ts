import type { ManagedObject } from "../objects/object.ts";
import type { Clock } from "../runtime/clock.ts";

/** After so long without the same correction, the next one is the first again. */
const MEMORY_MS = 60 * 60_000;

interface Rounds {
  /** The correction, as a text: generation and fields. */
  what: string;
  count: number;
  at: number;
}

/**
 * Counts how often the same fields of an object had to be put right in a row, so that a value which the service or
 * somebody else keeps changing back is not fought over for ever.
 */
export class CorrectionCounter {
  readonly #clock: Clock;
  readonly #rounds = new Map<string, Rounds>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  rounds(object: ManagedObject, fields: readonly string[]): number {
    const known = this.#rounds.get(object.metadata.uid);
    const current = known?.what === nameOf(object, fields) && this.#clock.now() - known.at < MEMORY_MS;
    return current ? known.count : 0;
  }

  /** Returns the rounds by now. `repeated`: false when the correction held and nobody else is known to interfere. */
  note(object: ManagedObject, fields: readonly string[], repeated: boolean): number {
    if (!repeated) {
      this.#rounds.delete(object.metadata.uid);
      return 0;
    }
    const count = this.rounds(object, fields) + 1;
    this.#rounds.set(object.metadata.uid, { what: nameOf(object, fields), count, at: this.#clock.now() });
    return count;
  }

  forget(uid: string): void {
    this.#rounds.delete(uid);
  }
}

const nameOf = ({ metadata }: ManagedObject, fields: readonly string[]): string =>
  `${metadata.generation} ${fields.join(" ")}`;
