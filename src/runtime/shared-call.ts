/**
 * One call for all who ask while another is under way. Whoever asks gets the answer of a call that began after that,
 * so it is never older than the question. Nothing is kept: the next to ask causes a call.
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
