import type { Clock } from "../runtime/clock.ts";

/** How long the lists of a burst count. One deletion a second, the usual limit, then costs a list every ten. */
const BURST_MS = 10_000;

/**
 * Deletions that come close together share the lists that show what uses their remotes. Each of these lists has to begin
 * after the first deletion of the burst. All times are monotonic milliseconds.
 */
export class DeletionBurst {
  readonly #clock: Clock;
  readonly #forbidden = new Set<string>();
  #beganAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** When the burst began that a deletion belongs to which is about to be checked now. */
  get beganAt(): number {
    this.#endIfOver();
    this.#beganAt ??= this.#clock.now();
    return this.#beganAt;
  }

  /** Ends the burst, so that no list counts for the next deletion that began before it. */
  end(): void {
    this.#beganAt = undefined;
    this.#forbidden.clear();
  }

  /** The API key may not read these remotes: nobody asks for them again in this burst. */
  recordForbidden(name: string): void {
    this.#forbidden.add(name);
  }

  isForbidden(name: string): boolean {
    this.#endIfOver();
    return this.#forbidden.has(name);
  }

  #endIfOver(): void {
    if (this.#beganAt === undefined || this.#clock.now() - this.#beganAt <= BURST_MS) return;
    this.end();
  }
}
