/** The tokens that authenticate. */
export class Keyring {
  readonly #tokens = new Set<string>();

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
  }
}
