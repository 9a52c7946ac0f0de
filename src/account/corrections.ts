import type { ManagedObject } from "../objects/object.ts";
import type { Clock } from "../runtime/clock.ts";

/** A correction is forgotten when it was not repeated for this long. */
const MEMORY_MS = 60 * 60_000;

interface Count {
  count: number;
  at: number;
}

/**
 * Counts how often the same fields of one object were corrected. When the service or another client changes the value
 * back each time, the operator uses the count to stop correcting it. Other corrections in between do not matter: two
 * fields may change in turns. An edit of the object starts all counts anew.
 */
export class Corrections {
  readonly #clock: Clock;
  /** Unset until something is corrected: most objects never are, and a map per object is large. */
  #last: { generation: number | undefined; byFields: ReadonlyMap<string, Count> } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  count(object: ManagedObject, fields: readonly string[]): number {
    return this.#recent(object).get(keyOf(fields))?.count ?? 0;
  }

  /**
   * Returns the new count. `repeated`: false when the last correction held until now and no other client changed these
   * fields.
   */
  record(object: ManagedObject, fields: readonly string[], repeated: boolean): number {
    const byFields = this.#recent(object);
    const count = repeated ? (byFields.get(keyOf(fields))?.count ?? 0) + 1 : 0;
    if (repeated) byFields.set(keyOf(fields), { count, at: this.#clock.now() });
    else byFields.delete(keyOf(fields));
    this.#last = byFields.size > 0 ? { generation: object.metadata.generation, byFields } : undefined;
    return count;
  }

  #recent({ metadata }: ManagedObject): Map<string, Count> {
    if (this.#last?.generation !== metadata.generation) return new Map();
    const now = this.#clock.now();
    return new Map([...(this.#last?.byFields ?? [])].filter(([, { at }]) => now - at < MEMORY_MS));
  }
}

const keyOf = (fields: readonly string[]): string => fields.join(" ");
