import { Heap } from "./heap.ts";

/**
 * Ordered items, divided into flows that take turns. A flow can be any value; equal values are one flow. Counts the
 * items of each flow that are taken and not ended.
 */
export class Flows<T> {
  readonly #before: (a: T, b: T) => boolean;
  /** Flows that have items. The first one has the next turn. */
  readonly #heaps = new Map<unknown, Heap<T>>();
  readonly #taken = new Map<unknown, number>();

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const heap of this.#heaps.values()) yield* heap;
  }

  has(item: T, flow: unknown): boolean {
    return this.#heaps.get(flow)?.has(item) === true;
  }

  /** Adds the item, or moves it after its order has changed. */
  put(item: T, flow: unknown): void {
    const heap = this.#heaps.get(flow) ?? new Heap<T>(this.#before);
    heap.put(item);
    this.#heaps.set(flow, heap);
  }

  delete(item: T, flow: unknown): void {
    const heap = this.#heaps.get(flow);
    heap?.delete(item);
    if (heap?.peek() === undefined) this.#heaps.delete(flow);
  }

  /** The first item of the flow whose turn it is, among the flows that have fewer than `most` items taken. */
  take(most: number): T | undefined {
    for (const [flow, heap] of this.#heaps) {
      const taken = this.#taken.get(flow) ?? 0;
      if (taken >= most) continue;
      const item = heap.pop();
      // Removed and added at the end, so that the other flows have their turns first.
      this.#heaps.delete(flow);
      if (heap.peek() !== undefined) this.#heaps.set(flow, heap);
      this.#taken.set(flow, taken + 1);
      return item;
    }
    return undefined;
  }

  /** Call it when an item that was taken from the flow is done. */
  ended(flow: unknown): void {
    const left = (this.#taken.get(flow) ?? 0) - 1;
    if (left > 0) this.#taken.set(flow, left);
    else this.#taken.delete(flow);
  }

  clear(): void {
    this.#heaps.clear();
  }
}
