import type { Clock } from "../runtime/clock.ts";

/**
 * A waiting delete that does not ask again within this time after its turn loses its place: its object is probably
 * gone.
 */
const LATE_MS = 60_000;

interface Waiting {
  namespace: string;
  /** When the delete has to ask again. Monotonic milliseconds. */
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
  /**
   * The waiting deletes of each namespace, in the order of their first request. The first namespace has the next turn.
   */
  readonly #queues = new Map<string, Set<string>>();
  readonly #waiting = new Map<string, Waiting>();
  readonly perMinute: number;
  /** Deletes that may be sent now. At most a minute's worth. */
  #allowed: number;
  #countedAt: number;
  #dropAt = 0;

  /** `perMinute`: deletes per minute; 0 means no limit. */
  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.perMinute = perMinute;
    this.#intervalMs = 60_000 / perMinute;
    this.#allowed = perMinute;
    this.#countedAt = clock.now();
  }

  /**
   * 0 if the remote may be deleted now, else the seconds until its turn if no other delete comes. `namespace`: that of
   * its object.
   */
  secondsUntilTurn(id: string, namespace: string): number {
    if (this.perMinute === 0) return 0;
    const now = this.#clock.now();
    this.#count(now);
    this.#dropLate(now);
    this.#enqueue(id, { namespace, dueAt: now });
    const missing = this.#countBefore(id, namespace) + 1 - this.#allowed;
    // A sum of fractions can be slightly less than the exact value.
    if (missing > 1e-6) {
      this.#waiting.set(id, { namespace, dueAt: now + missing * this.#intervalMs });
      return (missing * this.#intervalMs) / 1000;
    }
    this.#allowed -= 1;
    this.#dequeue(id);
    this.#passTurn(namespace);
    return 0;
  }

  /** Call it when the remote is gone. */
  forget(id: string): void {
    this.#dequeue(id);
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

  /** Moves the namespace to the end, so that each other namespace has a turn first. */
  #passTurn(namespace: string): void {
    const queue = this.#queues.get(namespace);
    if (!queue) return;
    this.#queues.delete(namespace);
    this.#queues.set(namespace, queue);
  }

  /** How many deletes go first: from each other namespace as many as from this one, plus one if its turn is earlier. */
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
