/** An object whose cached state was outdated is looked at again this soon: the watch has told by then. */
const FIRST_SECONDS = 0.2;
/** A cache that is behind is up to date again soon, and a change of the status alone wakes nobody. */
const LONGEST_SECONDS = 5;

/** Keeps looks that follow each other at once from going on for ever: each that was no better makes the next rarer. */
export class Hurry {
  readonly #looks = new Map<string, number>();

  /** Seconds to wait before the next. */
  again(key: string): number {
    const looks = this.#looks.get(key) ?? 0;
    this.#looks.set(key, looks + 1);
    return Math.min(FIRST_SECONDS * 2 ** looks, LONGEST_SECONDS);
  }

  /** A look has come to something, or the object is gone. */
  end(key: string): void {
    this.#looks.delete(key);
  }

  /** Objects that are in a hurry. */
  get size(): number {
    return this.#looks.size;
  }
}
