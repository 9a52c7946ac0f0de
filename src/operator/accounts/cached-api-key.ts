import type { Clock } from "../../runtime/clock.ts";

/** How long a key that was read is used before its Secret is read again; at a refusal it is read at once. */
const KEY_SECONDS = 30;

/** The key of one account: read when it is needed, once for whoever needs it meanwhile, and soon forgotten. */
export class CachedApiKey {
  readonly #clock: Clock;
  readonly #obtain: () => Promise<string>;
  #held: { value: Promise<string>; at: number } | undefined;

  constructor(clock: Clock, obtain: () => Promise<string>) {
    this.#clock = clock;
    this.#obtain = obtain;
  }

  /** A failure is not held. */
  read(): Promise<string> {
    const now = this.#clock.now();
    if (this.#held && now - this.#held.at < KEY_SECONDS * 1000) return this.#held.value;
    const held = { value: this.#obtain(), at: now };
    this.#held = held;
    held.value.catch(() => {
      if (this.#held === held) this.#held = undefined;
    });
    return held.value;
  }

  /** The next to need it reads anew; what is being read is for those alone who wait for it. */
  refresh(): void {
    this.#held = undefined;
  }
}
