/** The tokens that authenticate. */
export class Keyring {
  readonly #tokens = new Set<string>();
  /** What a credential that is not accepted answers. */
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
