import { Postponed } from "../objects/reconcile-error.ts";
import type { Clock } from "../runtime/clock.ts";

/** How long the lists of a burst count. One deletion a second, the usual limit, then costs a list every ten. */
const BURST_MS = 10_000;

/**
 * Deletions that come close together share the lists that show what uses their remotes. Each of these lists has to begin
 * after the first deletion of the burst. Where lists are long, the burst lasts twice as long as they take: otherwise it
 * would be over before they have come, and each deletion would need lists of its own. All times are monotonic
 * milliseconds.
 */
export class DeletionBurst {
  readonly #clock: Clock;
  readonly #forbidden = new Set<string>();
  #beganAt: number | undefined;
  /** How many lists are waited for now, since when there is one, and how long that was the case before. */
  #waiting = 0;
  #waitingSince = 0;
  #waitedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** When the burst began that a deletion belongs to which is about to be checked now. */
  get beganAt(): number {
    this.#endIfOver();
    this.#beganAt ??= this.#clock.now();
    return this.#beganAt;
  }

  /** Waits for lists of the burst, which goes on until they have come. */
  during<T>(lists: () => Promise<T>): Promise<T> {
    if (this.#waiting === 0) this.#waitingSince = this.#clock.now();
    this.#waiting += 1;
    const answer = lists();
    const ended = () => {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#waitedMs += this.#clock.now() - this.#waitingSince;
    };
    // a reconcile that is postponed goes, and its list goes on
    answer.catch((error: unknown) => (error instanceof Postponed ? error.until : undefined)).then(ended, ended);
    return answer;
  }

  /** Ends the burst, so that no list counts for the next deletion that began before it. */
  end(): void {
    this.#beganAt = undefined;
    this.#waitedMs = 0;
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
    if (this.#beganAt === undefined || this.#waiting > 0) return;
    if (this.#clock.now() - this.#beganAt > Math.max(BURST_MS, 2 * this.#waitedMs)) this.end();
  }
}
