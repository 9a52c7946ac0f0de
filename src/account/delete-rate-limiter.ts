import type { Clock } from "../runtime/clock.ts";

/**
 * At most so many remotes are deleted in a minute, since a name that was released may be gone for ever: it leaves
 * time to notice a mistake. A minute's worth may go at once; who comes later is given a turn.
 */
export class DeleteRateLimiter {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #turns = new Map<string, number>();
  readonly #uncertain = new Set<string>();
  readonly perMinute: number;
  /** When the next turn would be, had nothing been saved up. */
  #nextTurnAt = 0;

  /** `perMinute`: 0 is no limit. */
  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.perMinute = perMinute;
    this.#intervalMs = perMinute === 0 ? 0 : 60_000 / perMinute;
  }

  /** 0: it may go now. Otherwise the seconds until its turn, which is kept for it. */
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

  /** The answer to a request to delete it was lost. */
  recordUncertain(id: string): void {
    this.#uncertain.add(id);
  }

  mayBeDeleted(id: string): boolean {
    return this.#uncertain.has(id);
  }

  /** It is gone. */
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
