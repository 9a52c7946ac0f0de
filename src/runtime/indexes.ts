import type { KubeObject } from "./object.ts";

/** Finds keys by values computed from the objects. */
export class Indexes<T extends KubeObject> {
  readonly #indexers: Readonly<Record<string, (object: T) => readonly string[]>>;
  readonly #onError: (error: unknown) => void;
  /** index name to value to keys */
  readonly #keys = new Map<string, Map<string, Set<string>>>();
  /** key to the [index name, value] pairs under which it stands */
  readonly #entries = new Map<string, [string, string][]>();

  constructor(indexers: Readonly<Record<string, (object: T) => readonly string[]>>, onError: (error: unknown) => void) {
    this.#indexers = indexers;
    this.#onError = onError;
    for (const name of Object.keys(indexers)) this.#keys.set(name, new Map());
  }

  keys(name: string, value: string): Iterable<string> {
    const index = this.#keys.get(name);
    if (!index) throw new Error(`There is no index named ${name}`);
    return index.get(value) ?? [];
  }

  replace(key: string, object: T): void {
    this.delete(key);
    const entries = Object.keys(this.#indexers).flatMap((name) =>
      this.#valuesOf(name, object).map((value): [string, string] => [name, value]),
    );
    if (entries.length === 0) return;
    this.#entries.set(key, entries);
    for (const [name, value] of entries) {
      const index = this.#keys.get(name) as Map<string, Set<string>>;
      const keys = index.get(value);
      if (keys) keys.add(key);
      else index.set(value, new Set([key]));
    }
  }

  delete(key: string): void {
    for (const [name, value] of this.#entries.get(key) ?? []) {
      const index = this.#keys.get(name);
      const keys = index?.get(value);
      keys?.delete(key);
      if (keys?.size === 0) index?.delete(value);
    }
    this.#entries.delete(key);
  }

  /** An indexer that throws costs its object its place in that index, never the cache its object. */
  #valuesOf(name: string, object: T): readonly string[] {
    try {
      return this.#indexers[name]?.(object) ?? [];
    } catch (error) {
      this.#onError(error);
      return [];
    }
  }
}
