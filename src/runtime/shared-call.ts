/**
 * Lets callers share calls. The answer that a caller gets is never older than its question: callers that ask during a
 * call wait for its end, and then share the next one. Answers are not cached.
 */
export class SharedCall<T> {
  readonly #call: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(call: () => Promise<T>) {
    this.#call = call;
  }

  ask(): Promise<T> {
    if (!this.#running) return this.#begin();
    this.#next ??= this.#after(this.#running);
    return this.#next;
  }

  async #after(running: Promise<T>): Promise<T> {
    await Promise.allSettled([running]);
    this.#next = undefined;
    return this.#begin();
  }

  #begin(): Promise<T> {
    const running = this.#call().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
