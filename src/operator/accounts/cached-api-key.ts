import type { Clock } from "../../runtime/clock.ts";

/** How long a key that was read is used before its Secret is read again; at a refusal it is read at once. */
const KEY_SECONDS = 30;

/** The key of one account: read when it is needed, once for whoever needs it meanwhile, and soon forgotten. */
export class CachedApiKey {
  readonly #clock: Clock;
  readonly #fetch: () => Promise<string>;
  #cached: { value: Promise<string>; at: number } | undefined;

  constructor(clock: Clock, obtain: () => Promise<string>) {
    this.#clock = clock;
    this.#fetch = obtain;
  }

  /** A failure is not held. */
  read(): Promise<string> {
    const now = this.#clock.now();
    if (this.#cached && now - this.#cached.at < KEY_SECONDS * 1000) return this.#cached.value;
    const held = { value: this.#fetch(), at: now };
    this.#cached = held;
    held.value.catch(() => {
      if (this.#cached === held) this.#cached = undefined;
    });
    return held.value;
  }

  /** The next to need it reads anew; what is being read is for those alone who wait for it. */
  invalidate(): void {
    this.#cached = undefined;
  }
}
