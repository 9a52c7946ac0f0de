import type { Clock } from "../runtime/clock.ts";

/** Who does not come so long after the time that it was told is gone, and nobody waits for it. */
const LATE_MS = 60_000;

interface Waiting {
  namespace: string;
  /** When it is to ask again. */
  dueAt: number;
}

/**
 * Limits how many remotes are deleted in a minute, which leaves time to notice a mistake: another customer of the
 * service may take a name that was released. The burst is one minute's worth; each further delete waits for its turn.
 * Namespaces take turns, so the deletion of one with hundreds of objects holds up no other.
 */
export class DeleteRateLimiter {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  /** Of each namespace, in the order in which they asked first. The first namespace has the next turn. */
  readonly #queues = new Map<string, Set<string>>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #uncertain = new Set<string>();
  readonly perMinute: number;
  /** Deletes that may be sent now, up to a minute's worth. */
  #allowed: number;
  #countedAt: number;
  #dropAt = 0;

  /** `perMinute`: 0 means no limit. */
  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.perMinute = perMinute;
    this.#intervalMs = perMinute === 0 ? 0 : 60_000 / perMinute;
    this.#allowed = perMinute;
    this.#countedAt = clock.now();
  }

  /**
   * 0 if the remote may be deleted now, else the seconds until its turn if nobody else comes. `namespace`: that of its
   * object.
   */
  secondsUntilTurn(id: string, namespace: string): number {
    if (this.perMinute === 0) return 0;
    const now = this.#clock.now();
    this.#count(now);
    this.#dropLate(now);
    this.#enqueue(id, { namespace, dueAt: now });
    const missing = this.#countBefore(id, namespace) + 1 - this.#allowed;
    // A sum of fractions may be a little less than what it stands for.
    if (missing > 1e-6) {
      this.#waiting.set(id, { namespace, dueAt: now + missing * this.#intervalMs });
      return (missing * this.#intervalMs) / 1000;
    }
    this.#allowed -= 1;
    this.#dequeue(id);
    this.#passTurn(namespace);
    return 0;
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
    this.#dequeue(id);
    this.#uncertain.delete(id);
  }

  #count(now: number): void {
    this.#allowed = Math.min(this.#allowed + (now - this.#countedAt) / this.#intervalMs, this.perMinute);
    this.#countedAt = now;
  }

  #dropLate(now: number): void {
    if (now < this.#dropAt) return;
    this.#dropAt = now + LATE_MS / 2;
    for (const [id, { dueAt }] of this.#waiting) if (now - dueAt > LATE_MS) this.#dequeue(id);
  }

  #enqueue(id: string, waiting: Waiting): void {
    if (this.#waiting.get(id)?.namespace !== waiting.namespace) this.#dequeue(id);
    this.#waiting.set(id, waiting);
    const queue = this.#queues.get(waiting.namespace) ?? new Set();
    this.#queues.set(waiting.namespace, queue.add(id));
  }

  #dequeue(id: string): void {
    const { namespace = "" } = this.#waiting.get(id) ?? {};
    const queue = this.#queues.get(namespace);
    this.#waiting.delete(id);
    queue?.delete(id);
    if (queue?.size === 0) this.#queues.delete(namespace);
  }

  /** The others have their turns before this namespace has another one. */
  #passTurn(namespace: string): void {
    const queue = this.#queues.get(namespace);
    if (!queue) return;
    this.#queues.delete(namespace);
    this.#queues.set(namespace, queue);
  }

  /** How many go first: as many of each other namespace as of its own, and one more of those whose turn is earlier. */
  #countBefore(id: string, namespace: string): number {
    const place = [...(this.#queues.get(namespace) ?? [])].indexOf(id);
    let [before, isEarlier] = [0, true];
    for (const [name, { size }] of this.#queues) {
      if (name === namespace) isEarlier = false;
      before += name === namespace ? place : Math.min(size, isEarlier ? place + 1 : place);
    }
    return before;
  }
}
