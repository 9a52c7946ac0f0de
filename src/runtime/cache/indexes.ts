import type { KubeObject } from "../object.ts";
import { Multimap } from "./multimap.ts";

/** Finds the keys of objects by values that indexers compute from the objects. */
export class Indexes<T extends KubeObject> {
  readonly #indexers: Readonly<Record<string, (object: T) => readonly string[]>>;
  readonly #onError: (error: unknown) => void;
  /** For each index, by name: the keys under each value. */
  readonly #keys = new Map<string, Multimap>();
  /** For each key: the index name and the value of each of its entries, one after the other in one flat list. */
  readonly #entries = new Map<string, readonly string[]>();

  constructor(indexers: Readonly<Record<string, (object: T) => readonly string[]>>, onError: (error: unknown) => void) {
    this.#indexers = indexers;
    this.#onError = onError;
    for (const name of Object.keys(indexers)) this.#keys.set(name, new Multimap());
  }

  keys(name: string, value: string): readonly string[] {
    const index = this.#keys.get(name);
    if (!index) throw new Error(`There is no index named ${name}`);
    return index.get(value);
  }

  replace(key: string, object: T): void {
    const entries: string[] = [];
    for (const name of this.#keys.keys()) {
      for (const value of this.#valuesOf(name, object)) entries.push(name, value);
    }
    if (isSameList(entries, this.#entries.get(key) ?? [])) return;
    this.delete(key);
    if (entries.length === 0) return;
    this.#entries.set(key, entries);
    this.#each(entries, (index, value) => index.add(value, key));
  }

  delete(key: string): void {
    this.#each(this.#entries.get(key) ?? [], (index, value) => index.delete(value, key));
    this.#entries.delete(key);
  }

  #each(entries: readonly string[], act: (index: Multimap, value: string) => void): void {
    for (let at = 0; at < entries.length; at += 2) {
      act(this.#keys.get(entries[at] as string) as Multimap, entries[at + 1] as string);
    }
  }

  /** When an indexer throws, the object is missing in that index, but it stays in the store. */
  #valuesOf(name: string, object: T): readonly string[] {
    try {
      return this.#indexers[name]?.(object) ?? [];
    } catch (error) {
      this.#onError(error);
      return [];
    }
  }
}

/** Most changes of an object change none of its entries. */
const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((text, at) => text === other[at]);
