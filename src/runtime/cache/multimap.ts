/** Most look-ups find nothing. */
const NONE: readonly string[] = Object.freeze([]);

/**
 * A map with several values under a key. Most keys have one value, which is stored without a Set: a Set for each key
 * would take more memory than all the values.
 */
export class Multimap {
  readonly #values = new Map<string, string | Set<string>>();

  get(key: string): readonly string[] {
    const found = this.#values.get(key);
    if (found === undefined) return NONE;
    return typeof found === "string" ? [found] : [...found];
  }

  /** Number of keys. */
  get size(): number {
    return this.#values.size;
  }

  add(key: string, value: string): void {
    const found = this.#values.get(key);
    if (found === undefined) this.#values.set(key, value);
    else if (typeof found !== "string") found.add(value);
    else if (found !== value) this.#values.set(key, new Set([found, value]));
  }

  /** Removes the key with its last value. */
  delete(key: string, value: string): void {
    const found = this.#values.get(key);
    if (found === value || (found instanceof Set && found.delete(value) && found.size === 0)) this.#values.delete(key);
  }
}
