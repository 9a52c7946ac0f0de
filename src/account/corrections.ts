import type { ManagedObject } from "../objects/object.ts";
import type { Clock } from "../runtime/clock.ts";

/** A correction is forgotten when it was not repeated for this long. */
const MEMORY_MS = 60 * 60_000;

interface Count {
  generation: number | undefined;
  count: number;
  at: number;
}

/**
 * Counts how often the same fields of one object were corrected. When the service or another client changes the value
 * back each time, the operator uses the count to stop correcting it. Other corrections in between do not matter: two
 * fields may change in turns.
 */
export class Corrections {
  readonly #clock: Clock;
  /** By the names of the fields. Unset until something is corrected: most objects never are, and a map per object is large. */
  #counts: Map<string, Count> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  count({ metadata }: ManagedObject, fields: readonly string[]): number {
    const last = this.#counts?.get(keyOf(fields));
    if (!last || last.generation !== metadata.generation) return 0;
    return this.#clock.now() - last.at < MEMORY_MS ? last.count : 0;
  }

  /**
   * Returns the new count. `repeated`: false when the last correction held until now and no other client changed these
   * fields.
   */
  record(object: ManagedObject, fields: readonly string[], repeated: boolean): number {
    const count = repeated ? this.count(object, fields) + 1 : 0;
    this.#counts?.delete(keyOf(fields));
    if (!repeated) return count;
    this.#counts ??= new Map();
    this.#counts.set(keyOf(fields), { generation: object.metadata.generation, count, at: this.#clock.now() });
    return count;
  }
}

const keyOf = (fields: readonly string[]): string => fields.join(" ");
