import type { Clock } from "../../runtime/clock.ts";

/** A key is used this long before its Secret is read again, unless it is invalidated earlier. */
const KEY_SECONDS = 30;

/** The API key of one account, cached for a short time. Callers during a read share it. */
export class CachedApiKey {
  readonly #clock: Clock;
  readonly #fetch: () => Promise<string>;
  #cached: { value: Promise<string>; at: number } | undefined;

  constructor(clock: Clock, obtain: () => Promise<string>) {
    this.#clock = clock;
    this.#fetch = obtain;
  }

  /** A failure is not cached. */
  read(): Promise<string> {
    const now = this.#clock.now();
    if (this.#cached && now - this.#cached.at < KEY_SECONDS * 1000) return this.#cached.value;
    const cached = { value: this.#fetch(), at: now };
    this.#cached = cached;
    cached.value.catch(() => {
      if (this.#cached === cached) this.#cached = undefined;
    });
    return cached.value;
  }

  /**
   * Makes the next `read` read the Secret again. A read under way still serves the callers that already wait for it.
   */
  invalidate(): void {
    this.#cached = undefined;
  }
}
