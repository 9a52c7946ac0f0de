/**
 * Lets writes to the same GatewayAccount wait for each other. An object records the key in the status while the
 * GatewayAccount is reconciled: of two writes at the same time, the API server would refuse one, and its reconcile would
 * come back later.
 */
export class WriteTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs the write when those before it for this key have ended, well or not. */
  async run<T>(key: string, write: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const writing = before.catch(() => undefined).then(write);
    this.#last.set(key, writing);
    try {
      return await writing;
    } finally {
      if (this.#last.get(key) === writing) this.#last.delete(key);
    }
  }
}
