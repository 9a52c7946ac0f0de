/** The API keys that are accepted. */
export class Keyring {
  readonly #tokens = new Set<string>();
  /** The status for a request whose key is missing or not accepted. */
  refusal: 401 | 403 = 401;

  accept(token: string): void {
    this.#tokens.add(token);
  }

  revoke(token: string): void {
    this.#tokens.delete(token);
  }

  has(token: string): boolean {
    return this.#tokens.has(token);
  }

  clear(): void {
    this.#tokens.clear();
    this.refusal = 401;
  }
}
