import { type BackoffOptions, delayAfter, type Random } from "../backoff.ts";
import type { Clock, Timer } from "../clock.ts";
import { Flows } from "./flows.ts";
import { Heap } from "./heap.ts";

export interface AddOptions {
  /** The highest runs first; default 0. */
  priority?: number | undefined;
  /** default 0: at once */
  afterSeconds?: number | undefined;
}

export interface RetryOptions {
  /** default 0 */
  priority?: number | undefined;
  /** default 0 */
  atLeastSeconds?: number | undefined;
  /** default: that of the queue */
  backoff?: BackoffOptions;
}

/** A key that a worker has taken. Nobody else gets it before `done(key)`. */
export interface WorkItem {
  key: string;
  priority: number;
  /** Failures in a row before this run. */
  failures: number;
}

/** Called for events of the queue. Metrics read its depth and the running work from the queue itself. */
export interface QueueObserver {
  added(): void;
  retried(): void;
  /** A worker has taken a key that had been ready for this many seconds. */
  waited(seconds: number): void;
  /** The work on a key took this many seconds. */
  worked(seconds: number): void;
}

export interface QueueOptions {
  clock: Clock;
  random?: Random;
  /** default: 0.005 s, doubled up to 1000 s */
  backoff?: BackoffOptions;
  observer?: QueueObserver;
  /**
   * The flow to which a key belongs. Flows take turns, and a flow gets no further worker while it has as many as are
   * free. So other flows find a worker whatever one flow does. Called when the key becomes ready. Default: one flow,
   * which may have all workers.
   */
  flowOf?: ((key: string) => unknown) | undefined;
}

interface Entry {
  key: string;
  /** Set while the key is ready. */
  flow?: unknown;
  priority: number;
  /** Order among equals: by when they were added and, once ready, by when they became ready. */
  sequence: number;
  /** Clock time at which the key becomes, or became, ready. */
  readyAt: number;
}

const silent: QueueObserver = { added() {}, retried() {}, waited() {}, worked() {} };

/**
 * A work queue of keys, each of which waits at most once.
 *
 * - A key that somebody works on is not handed out before `done(key)`. Any number of adds during the work cause exactly
 *   one more run.
 * - Adding a key that waits already keeps the earlier time and the higher priority of the two.
 * - Flows take turns. Within a flow, the ready key with the highest priority goes first. Keys of equal priority go in
 *   the order in which they became ready.
 * - After `shutdown()` adds are ignored and no key is handed out.
 */
export class Queue {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #backoff: BackoffOptions;
  readonly #observer: QueueObserver;
  readonly #flowOf: ((key: string) => unknown) | undefined;

  /** All waiting keys. Each is also in exactly one of delayed, ready and held. */
  readonly #waiting = new Map<string, Entry>();
  readonly #delayed = new Heap<Entry>(
    (a, b) => a.readyAt < b.readyAt || (a.readyAt === b.readyAt && a.sequence < b.sequence),
  );
  readonly #ready = new Flows<Entry>(
    (a, b) => a.priority > b.priority || (a.priority === b.priority && a.sequence < b.sequence),
  );
  /** Keys that are ready while a worker still works on them. */
  readonly #held = new Map<string, Entry>();
  /** Each key that is being worked on, its flow, and the clock time at which the work began. */
  readonly #running = new Map<string, { since: number; flow: unknown }>();
  readonly #failures = new Map<string, number>();
  readonly #takers: ((item: WorkItem | undefined) => void)[] = [];

  #sequence = 0;
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(options: QueueOptions) {
    const { clock, random = Math.random, backoff = { base: 0.005, cap: 1000 }, observer = silent, flowOf } = options;
    this.#clock = clock;
    this.#random = random;
    this.#backoff = backoff;
    this.#observer = observer;
    this.#flowOf = flowOf;
  }

  add(key: string, { priority = 0, afterSeconds = 0 }: AddOptions = {}): void {
    if (this.#closed) return;
    this.#observer.added();
    const readyAt = this.#clock.now() + Math.max(afterSeconds, 0) * 1000;
    const entry = this.#waiting.get(key);
    if (entry) this.#raise(entry, priority, readyAt);
    else this.#insert({ key, priority, readyAt, sequence: this.#sequence++ });
  }

  /** Counts a failure of the key, and adds it after `atLeastSeconds` plus an exponential delay with full jitter. */
  retry(key: string, { priority = 0, atLeastSeconds = 0, backoff = this.#backoff }: RetryOptions = {}): void {
    if (this.#closed) return;
    const failures = this.failures(key);
    this.#failures.set(key, failures + 1);
    this.#observer.retried();
    this.add(key, { priority, afterSeconds: atLeastSeconds + delayAfter(backoff, failures, this.#random) });
  }

  /** Forgets the failures of a key, which may be waiting or not. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Removes a waiting key and forgets its failures. Work on it that has begun goes on. */
  drop(key: string): void {
    this.#failures.delete(key);
    const entry = this.#waiting.get(key);
    if (!entry) return;
    this.#waiting.delete(key);
    this.#delayed.delete(entry);
    this.#ready.delete(entry, entry.flow);
    this.#held.delete(key);
    this.#arm();
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Resolves with the next key as soon as there is one, and with undefined once the queue is shut down. */
  take(): Promise<WorkItem | undefined> {
    return new Promise((resolve) => {
      if (this.#closed) return resolve(undefined);
      this.#takers.push(resolve);
      this.#handOut();
    });
  }

  /** Ends the work on a key, failed or not. */
  done(key: string): void {
    const run = this.#running.get(key);
    if (!run) return;
    this.#running.delete(key);
    this.#ready.ended(run.flow);
    this.#observer.worked((this.#clock.now() - run.since) / 1000);
    const held = this.#held.get(key);
    if (held) {
      this.#held.delete(key);
      this.#makeReady(held);
    }
    this.#handOut();
  }

  /** Removes all waiting keys. Work that has begun goes on, and its worker still calls `done`. */
  shutdown(): void {
    this.#closed = true;
    this.#timer?.clear();
    this.#timer = undefined;
    this.#waiting.clear();
    this.#delayed.clear();
    this.#ready.clear();
    this.#held.clear();
    this.#failures.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  /** Number of waiting keys: ready, held and delayed. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Number of ready keys, held ones included, by priority. */
  depth(): Map<number, number> {
    const depth = new Map<number, number>();
    const count = ({ priority }: Entry) => depth.set(priority, (depth.get(priority) ?? 0) + 1);
    for (const entry of this.#ready) count(entry);
    for (const entry of this.#held.values()) count(entry);
    return depth;
  }

  /** For each key that is being worked on, the seconds since the work began. */
  runningSeconds(): number[] {
    const now = this.#clock.now();
    return Array.from(this.#running.values(), ({ since }) => (now - since) / 1000);
  }

  #insert(entry: Entry): void {
    this.#waiting.set(entry.key, entry);
    if (entry.readyAt <= this.#clock.now()) {
      this.#release(entry);
      return;
    }
    this.#delayed.put(entry);
    this.#arm();
  }

  #raise(entry: Entry, priority: number, readyAt: number): void {
    entry.priority = Math.max(entry.priority, priority);
    if (this.#ready.has(entry, entry.flow)) this.#ready.put(entry, entry.flow);
    if (!this.#delayed.has(entry) || readyAt >= entry.readyAt) return;
    entry.readyAt = readyAt;
    this.#delayed.delete(entry);
    this.#insert(entry);
    this.#arm();
  }

  #release(entry: Entry): void {
    entry.sequence = this.#sequence++;
    if (this.#running.has(entry.key)) {
      this.#held.set(entry.key, entry);
      return;
    }
    this.#makeReady(entry);
    this.#handOut();
  }

  #makeReady(entry: Entry): void {
    entry.flow = this.#flowOf?.(entry.key);
    this.#ready.put(entry, entry.flow);
  }

  #handOut(): void {
    while (this.#takers.length > 0) {
      const most = this.#flowOf ? this.#takers.length : Number.POSITIVE_INFINITY;
      const entry = this.#ready.take(most);
      if (!entry) return;
      const now = this.#clock.now();
      this.#waiting.delete(entry.key);
      this.#running.set(entry.key, { since: now, flow: entry.flow });
      this.#observer.waited((now - entry.readyAt) / 1000);
      this.#takers.shift()?.({ key: entry.key, priority: entry.priority, failures: this.failures(entry.key) });
    }
  }

  #arm(): void {
    const next = this.#delayed.peek();
    if (this.#timer && this.#timerAt === next?.readyAt) return;
    this.#timer?.clear();
    this.#timer = undefined;
    if (!next) return;
    this.#timerAt = next.readyAt;
    this.#timer = this.#clock.setTimeout(() => this.#fire(), next.readyAt - this.#clock.now());
  }

  #fire(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    for (let next = this.#delayed.peek(); next && next.readyAt <= now; next = this.#delayed.peek()) {
      this.#delayed.delete(next);
      this.#release(next);
    }
    this.#arm();
  }
}
