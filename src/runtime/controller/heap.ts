/** A binary heap with the least item on top. Any item can be removed, or moved after its order has changed. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #positions = new Map<T, number>();
  readonly #before: (a: T, b: T) => boolean;

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  has(item: T): boolean {
    return this.#positions.has(item);
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#items[Symbol.iterator]();
  }

  /** Adds the item, or moves it after its order has changed. */
  put(item: T): void {
    const at = this.#positions.get(item) ?? this.#items.length;
    this.#set(at, item);
    this.#down(this.#up(at));
  }

  pop(): T | undefined {
    const top = this.#items[0];
    if (top !== undefined) this.delete(top);
    return top;
  }

  delete(item: T): boolean {
    const at = this.#positions.get(item);
    if (at === undefined) return false;
    this.#positions.delete(item);
    const last = this.#items.pop() as T;
    if (at < this.#items.length) {
      this.#set(at, last);
      this.#down(this.#up(at));
    }
    return true;
  }

  clear(): void {
    this.#items.length = 0;
    this.#positions.clear();
  }

  #set(at: number, item: T): void {
    this.#items[at] = item;
    this.#positions.set(item, at);
  }

  #up(from: number): number {
    const item = this.#items[from] as T;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = this.#items[parent] as T;
      if (!this.#before(item, above)) break;
      this.#set(at, above);
      at = parent;
    }
    this.#set(at, item);
    return at;
  }

  #down(from: number): void {
    const item = this.#items[from] as T;
    let at = from;
    for (let child = this.#lesserChild(at); child !== undefined; child = this.#lesserChild(at)) {
      const below = this.#items[child] as T;
      if (!this.#before(below, item)) break;
      this.#set(at, below);
      at = child;
    }
    this.#set(at, item);
  }

  #lesserChild(at: number): number | undefined {
    const left = 2 * at + 1;
    const right = left + 1;
    if (left >= this.#items.length) return undefined;
    if (right >= this.#items.length) return left;
    return this.#before(this.#items[right] as T, this.#items[left] as T) ? right : left;
  }
}
