import { LRUCache } from "lru-cache";
import type { Clock } from "../../runtime/clock.ts";
import { keyOf } from "../../runtime/object.ts";

/** An absent object whose deletion nobody saw counts as deleted after this time. */
const ABSENT_MS = 3_600_000;

const MOST_REMEMBERED = 10_000;

type Name = { namespace: string; name: string };

interface EndedObjectsOptions {
  clock: Clock;
  /** Whether the operator sees all objects of the kind in the namespace. Elsewhere, one may exist unseen. */
  watches: (kind: string, namespace: string) => boolean;
  exists: (kind: string, key: string) => boolean;
}

/**
 * Objects whose deletion this process saw, or that have been absent for long. Owner marks with their names no longer
 * count.
 */
export class EndedObjects {
  readonly #options: EndedObjectsOptions;
  readonly #ended = new LRUCache<string, true>({ max: MOST_REMEMBERED });
  readonly #absentSince = new LRUCache<string, number>({ max: MOST_REMEMBERED });

  constructor(options: EndedObjectsOptions) {
    this.#options = options;
  }

  /** Call it when the watch reports a deletion. */
  record(kind: string, name: Name): void {
    this.#ended.set(`${kind}/${keyOf(name)}`, true);
  }

  has(kind: string, name: Name): boolean {
    const { clock, watches, exists } = this.#options;
    const key = `${kind}/${keyOf(name)}`;
    if (!watches(kind, name.namespace)) return false;
    if (exists(kind, keyOf(name))) {
      this.#absentSince.delete(key);
      return false;
    }
    if (this.#ended.has(key)) return true;
    const since = this.#absentSince.get(key) ?? clock.now();
    this.#absentSince.set(key, since);
    return clock.now() - since >= ABSENT_MS;
  }
}
