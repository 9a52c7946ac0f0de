import type { Clock } from "../runtime/clock.ts";

/**
 * Limits how many remotes are deleted in a minute, which leaves time to notice a mistake: another customer of the
 * service may take a name that was released. The burst is one minute's worth; each further delete gets a turn.
 */
export class DeleteRateLimiter {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #turns = new Map<string, number>();
  readonly #uncertain = new Set<string>();
  readonly perMinute: number;
  /** When the next turn would be without a burst. */
  #nextTurnAt = 0;

  /** `perMinute`: 0 means no limit. */
  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.perMinute = perMinute;
    this.#intervalMs = perMinute === 0 ? 0 : 60_000 / perMinute;
  }

  /** 0 if the remote may be deleted now, else the seconds until its turn. The turn stays reserved for it. */
  secondsUntilTurn(id: string): number {
    const now = this.#clock.now();
    const turn = this.#turns.get(id) ?? this.#takeTurn(now);
    if (turn <= now) {
      this.#turns.delete(id);
      return 0;
    }
    this.#turns.set(id, turn);
    return (turn - now) / 1000;
  }

  /** The answer to the delete was lost. */
  recordUncertain(id: string): void {
    this.#uncertain.add(id);
  }

  mayBeDeleted(id: string): boolean {
    return this.#uncertain.has(id);
  }

  /** The remote is gone. */
  forget(id: string): void {
    this.#turns.delete(id);
    this.#uncertain.delete(id);
  }

  #takeTurn(now: number): number {
    const earliest = Math.max(this.#nextTurnAt, now);
    this.#nextTurnAt = earliest + this.#intervalMs;
    return earliest - (60_000 - this.#intervalMs);
  }
}
