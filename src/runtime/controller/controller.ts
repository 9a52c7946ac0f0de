import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { BackoffOptions, Random } from "../backoff.ts";
import { type Clock, systemClock } from "../clock.ts";
import { Deadline, TimedOut } from "../deadline.ts";
import type { Logger } from "../log.ts";
import { splitKey } from "../object.ts";
import { type AddOptions, Queue, type QueueObserver, type WorkItem } from "./queue.ts";

const running = new AsyncLocalStorage<Logger>();

/** The log of the reconcile that the caller runs in. Undefined outside of reconciles. */
export const logOfReconcile = (): Logger | undefined => running.getStore();

export interface Request {
  /** `namespace/name` */
  key: string;
  namespace: string;
  name: string;
  /** Failures in a row before this run. */
  attempt: number;
  priority: number;
  /** Aborted at the timeout and at a hard stop. Pass it to everything that a reconcile waits for. */
  signal: AbortSignal;
  /** Its lines have the fields controller, namespace, name and reconcileID. */
  log: Logger;
  reconcileID: string;
}

/**
 * When a reconcile wants its key back. All times are seconds. An event brings the key back sooner in any case.
 *
 * - `{}`: done, until the next event.
 * - `requeueAfterSeconds`: done, and again after this time: never before, and up to a fifth of it later, a minute at most.
 * - `backoff`: failed, and again after `atLeastSeconds` plus a delay that grows with each failure in a row. An `error`
 *   is logged and counted as one; leave it out where the object's status reports the failure.
 * - `when`: not done yet, and again as soon as this promise is settled, at the priority of this run. So what a reconcile
 *   waits for need not take a worker.
 * - `stale`: the cache was behind, and again as soon as it may have caught up, at the priority of this run. The delay
 *   grows with each failure in a row here too, to a few seconds.
 *
 * A thrown error has the effect of `{ backoff: true, error }`, unless it is a TerminalError.
 */
export type Result =
  | { requeueAfterSeconds?: number }
  | { backoff: true; atLeastSeconds?: number; error?: unknown }
  | { when: Promise<unknown> }
  | { stale: true };

/** How long a reconcile may go on after its timeout before it counts as stuck. */
const STUCK_SECONDS = 60;

/** A watch usually delivers within milliseconds, but may be interrupted for minutes. */
const STALE_BACKOFF: BackoffOptions = { base: 0.4, cap: 10 };

/** A reconcile before its time would be in vain, and one that renews a certificate must not come days late. */
const JITTER = 0.2;
const LONGEST_JITTER_SECONDS = 60;

/** A failure that a retry cannot repair. It is logged and counted, and the key is not retried. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
}

export type Outcome = "success" | "error" | "requeue" | "requeue_after";

export interface ControllerObserver extends QueueObserver {
  started(): void;
  finished(outcome: Outcome, seconds: number): void;
  /** Called before `finished("error")`, for failures that have a counter of their own. */
  failed(how: "terminal" | "panic" | "timeout"): void;
}

/** Read by the metrics each time they are collected. */
export interface ControllerState {
  concurrency: number;
  depth(): Map<number, number>;
  runningSeconds(): number[];
}

export interface ControllerOptions {
  name: string;
  reconcile: (request: Request) => Promise<Result>;
  /** Number of keys that are reconciled at the same time; default 1. */
  concurrency?: number;
  /** Time limit of one reconcile; default: none. */
  timeoutSeconds?: number;
  log: Logger;
  metrics?: { controller(name: string, state: ControllerState): ControllerObserver };
  clock?: Clock;
  random?: Random;
  /** Delays after failures; default: 0.005 s, doubled up to 1000 s. */
  backoff?: BackoffOptions;
  /** Priority of keys that `requeueAfterSeconds` or a failure brings back; default: that of the run before. */
  requeuePriority?: number;
  /** See the queue's option. */
  flowOf?: (key: string) => unknown;
}

/** Reconciles keys: several at the same time, but never the same key twice at once. */
export class Controller {
  readonly name: string;
  readonly #options: ControllerOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #queue: Queue;
  readonly #observer: ControllerObserver | undefined;
  /** For each postponed key: the promise after which it runs again. */
  readonly #waitsFor = new Map<string, { settled: Promise<unknown>; priority: number }>();
  #workers: Promise<void>[] = [];
  #stop: AbortSignal | undefined;

  constructor(options: ControllerOptions) {
    const { name, clock = systemClock, random = Math.random, concurrency = 1, backoff } = options;
    this.name = name;
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.#log = options.log.child({ controller: name });
    this.#observer = options.metrics?.controller(name, {
      concurrency,
      // Before the start there are no workers: a standby replica would count every object as waiting.
      depth: () => (this.#workers.length > 0 ? this.#queue.depth() : new Map()),
      runningSeconds: () => this.#queue.runningSeconds(),
    });
    this.#queue = new Queue({
      clock,
      random,
      flowOf: options.flowOf,
      ...(backoff && { backoff }),
      ...(this.#observer && { observer: this.#observer }),
    });
  }

  /** Adds a key. Keys added before `start` wait for it; keys added after `drain` are ignored. */
  enqueue(key: string, options?: AddOptions): void {
    this.#queue.add(key, options);
  }

  /**
   * Removes a key whose object is gone and needs no work. Otherwise keys of objects that come and go would pile up,
   * above all in a process that waits to become leader.
   */
  drop(key: string): void {
    this.#waitsFor.delete(key);
    this.#queue.drop(key);
  }

  /** Number of waiting keys, delayed ones included. */
  get size(): number {
    return this.#queue.size;
  }

  /** Set while a reconcile is stuck: it blocks a worker for good, and only a restart helps. */
  get problem(): string | undefined {
    const { timeoutSeconds } = this.#options;
    if (timeoutSeconds === undefined) return undefined;
    const longest = Math.max(0, ...this.#queue.runningSeconds());
    if (longest < timeoutSeconds + STUCK_SECONDS) return undefined;
    return `${this.name}: a reconcile has been running for ${Math.round(longest)} s`;
  }

  /**
   * Starts the workers. Aborting the signal is the hard stop: no further key is taken, and running reconciles are
   * aborted.
   */
  start(signal: AbortSignal): void {
    if (this.#workers.length > 0) throw new Error(`${this.name} has been started before`);
    this.#stop = signal;
    if (signal.aborted) this.#queue.shutdown();
    signal.addEventListener("abort", () => this.#queue.shutdown(), { once: true });
    this.#workers = Array.from({ length: this.#options.concurrency ?? 1 }, () => this.#work());
  }

  /** Takes no more keys, and resolves when the running reconciles have ended. */
  async drain(): Promise<void> {
    this.#queue.shutdown();
    await Promise.all(this.#workers);
  }

  async #work(): Promise<void> {
    for (let item = await this.#queue.take(); item; item = await this.#queue.take()) {
      await this.#process(item);
      this.#queue.done(item.key);
    }
  }

  async #process(item: WorkItem): Promise<void> {
    const reconcileID = randomUUID();
    const log = this.#log.child({ ...splitKey(item.key), reconcileID });
    const timeout = this.#options.timeoutSeconds;
    using deadline = new Deadline(this.#clock, timeout === undefined ? undefined : timeout * 1000, this.#stop);
    const { signal } = deadline;
    const { key, priority, failures: attempt } = item;

    const begun = this.#clock.now();
    this.#observer?.started();
    const result = await this.#attempt({ key, ...splitKey(key), attempt, priority, signal, log, reconcileID });
    const outcome = this.#settle(item, result, signal, log);
    this.#observer?.finished(outcome, (this.#clock.now() - begun) / 1000);
  }

  async #attempt(request: Request): Promise<Result> {
    try {
      return await running.run(request.log, () => this.#options.reconcile(request));
    } catch (error) {
      return { backoff: true, error: error ?? new Error("Reconcile threw nothing") };
    }
  }

  /** Handles the result of a reconcile. No other code decides when a key runs again. */
  #settle({ key, priority }: WorkItem, result: Result, signal: AbortSignal, log: Logger): Outcome {
    const { requeuePriority = priority } = this.#options;
    if ("when" in result) {
      this.#runAgainWhen(result.when, key, priority);
      return "requeue";
    }
    this.#waitsFor.delete(key);
    if ("stale" in result) {
      this.#queue.retry(key, { priority, backoff: STALE_BACKOFF });
      return "requeue";
    }
    if (!("backoff" in result)) {
      this.#queue.forget(key);
      if (result.requeueAfterSeconds === undefined) return "success";
      const seconds = result.requeueAfterSeconds;
      const afterSeconds = seconds + Math.min(seconds * JITTER, LONGEST_JITTER_SECONDS) * this.#random();
      this.#queue.add(key, { priority: requeuePriority, afterSeconds });
      return "requeue_after";
    }
    const { error, atLeastSeconds } = result;
    if (error instanceof TerminalError) {
      this.#queue.forget(key);
      this.#observer?.failed("terminal");
      log.error({ error }, "Reconciler error, not retried");
      return "error";
    }
    this.#queue.retry(key, { priority: requeuePriority, atLeastSeconds });
    if (error === undefined) return "requeue";
    this.#report(error, signal, log);
    return "error";
  }

  #runAgainWhen(settled: Promise<unknown>, key: string, priority: number): void {
    const known = this.#waitsFor.get(key);
    // Events may run the key any number of times meanwhile. One callback is enough for all these runs.
    if (known?.settled === settled) {
      known.priority = Math.max(known.priority, priority);
      return;
    }
    const waiting = { settled, priority };
    this.#waitsFor.set(key, waiting);
    const runAgain = () => {
      if (this.#waitsFor.get(key) !== waiting) return;
      this.#waitsFor.delete(key);
      this.#queue.add(key, { priority: waiting.priority });
    };
    settled.then(runAgain, runAgain);
  }

  #report(error: unknown, signal: AbortSignal, log: Logger): void {
    if (this.#stop?.aborted) return;
    if (signal.reason instanceof TimedOut) this.#observer?.failed("timeout");
    if (isProgrammingError(error)) this.#observer?.failed("panic");
    log.error({ error }, "Reconciler error");
  }
}

/** Such errors would be a panic in Go. */
const isProgrammingError = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
