import { type BackoffOptions, fullJitter, type Random } from "../backoff.ts";
import type { Clock, Timer } from "../clock.ts";
import { Heap } from "./heap.ts";

export interface AddOptions {
  /** higher runs first; default 0 */
  priority?: number | undefined;
  /** default 0: now */
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

/** One key handed out for work; it stays locked until `done(key)`. */
export interface WorkItem {
  key: string;
  priority: number;
  /** failures in a row before this run */
  failures: number;
}

/** What the queue tells about itself; depth and running work are read from it when metrics are collected. */
export interface QueueObserver {
  added(): void;
  retried(): void;
  /** seconds between becoming ready and being taken */
  waited(seconds: number): void;
  worked(seconds: number): void;
}

export interface QueueOptions {
  clock: Clock;
  random?: Random;
  /** seconds; default 0.005 to 1000 */
  backoff?: BackoffOptions;
  observer?: QueueObserver;
}

interface Entry {
  key: string;
  priority: number;
  /** order among equals: when it was added, then when it became ready */
  sequence: number;
  /** clock time at which it is or was ready */
  readyAt: number;
}

const silent: QueueObserver = { added() {}, retried() {}, waited() {}, worked() {} };

/**
 * Keys waiting for work, each at most once.
 *
 * - A key that is being worked on is never handed out again before `done(key)`; any number of adds during
 *   the work cause exactly one more run.
 * - Adding a key that waits already keeps the earlier of the two times and the higher of the two priorities.
 * - Among ready keys the highest priority goes first, equals in the order in which they became ready.
 * - After `shutdown()` adds are ignored and nothing more is handed out.
 */
export class Queue {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #backoff: BackoffOptions;
  readonly #observer: QueueObserver;

  /** every waiting key is in here, and in exactly one of delayed, ready and held */
  readonly #waiting = new Map<string, Entry>();
  readonly #delayed = new Heap<Entry>(
    (a, b) => a.readyAt < b.readyAt || (a.readyAt === b.readyAt && a.sequence < b.sequence),
  );
  readonly #ready = new Heap<Entry>(
    (a, b) => a.priority > b.priority || (a.priority === b.priority && a.sequence < b.sequence),
  );
  /** ready, but locked by its own running work */
  readonly #held = new Map<string, Entry>();
  /** key to the clock time at which its work began */
  readonly #running = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  readonly #takers: ((item: WorkItem | undefined) => void)[] = [];

  #sequence = 0;
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor({ clock, random = Math.random, backoff = { base: 0.005, cap: 1000 }, observer = silent }: QueueOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#backoff = backoff;
    this.#observer = observer;
  }

  add(key: string, { priority = 0, afterSeconds = 0 }: AddOptions = {}): void {
    if (this.#closed) return;
    this.#observer.added();
    const readyAt = this.#clock.now() + Math.max(afterSeconds, 0) * 1000;
    const entry = this.#waiting.get(key);
    if (entry) this.#raise(entry, priority, readyAt);
    else this.#insert({ key, priority, readyAt, sequence: this.#sequence++ });
  }

  /** Counts a failure and adds the key with exponential delay and full jitter, on top of `atLeastSeconds`. */
  retry(key: string, { priority = 0, atLeastSeconds = 0, backoff = this.#backoff }: RetryOptions = {}): void {
    if (this.#closed) return;
    const failures = this.failures(key);
    this.#failures.set(key, failures + 1);
    this.#observer.retried();
    this.add(key, { priority, afterSeconds: atLeastSeconds + fullJitter(backoff, failures, this.#random) });
  }

  /** Ends the row of failures; says nothing about whether the key waits. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The key has nothing more to do: it waits no longer, and its failures are forgotten. Running work goes on. */
  drop(key: string): void {
    this.#failures.delete(key);
    const entry = this.#waiting.get(key);
    if (!entry) return;
    this.#waiting.delete(key);
    this.#delayed.delete(entry);
    this.#ready.delete(entry);
    this.#held.delete(key);
    this.#arm();
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The next key, when there is one; undefined once the queue is shut down. */
  take(): Promise<WorkItem | undefined> {
    return new Promise((resolve) => {
      if (this.#closed) return resolve(undefined);
      this.#takers.push(resolve);
      this.#handOut();
    });
  }

  /** The work on a key is over, whatever came of it. */
  done(key: string): void {
    const since = this.#running.get(key);
    if (since === undefined) return;
    this.#running.delete(key);
    this.#observer.worked((this.#clock.now() - since) / 1000);
    const held = this.#held.get(key);
    if (!held) return;
    this.#held.delete(key);
    this.#ready.put(held);
    this.#handOut();
  }

  /** Running work goes on; whoever runs it still calls `done`. */
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

  /** Keys waiting: ready, held back and delayed. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Number of keys that are ready, by priority. */
  depth(): Map<number, number> {
    const depth = new Map<number, number>();
    const count = ({ priority }: Entry) => depth.set(priority, (depth.get(priority) ?? 0) + 1);
    for (const entry of this.#ready) count(entry);
    for (const entry of this.#held.values()) count(entry);
    return depth;
  }

  /** Seconds that each running piece of work has taken so far. */
  runningSeconds(): number[] {
    const now = this.#clock.now();
    return Array.from(this.#running.values(), (since) => (now - since) / 1000);
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
    if (this.#ready.has(entry)) this.#ready.put(entry);
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
    this.#ready.put(entry);
    this.#handOut();
  }

  #handOut(): void {
    while (this.#takers.length > 0) {
      const entry = this.#ready.pop();
      if (!entry) return;
      const now = this.#clock.now();
      this.#waiting.delete(entry.key);
      this.#running.set(entry.key, now);
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
