/**
 * Makes writes under the same key, such as those to one GatewayAccount, wait for each other. An object records the key in the status while the
 * GatewayAccount is reconciled. Of two writes at the same time, the API server would refuse one, and its reconcile
 * would be repeated later.
 */
export class WriteTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs the write after the earlier ones for this key, whether those succeed or fail. */
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
