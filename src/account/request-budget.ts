import { LONGEST_PAUSE_MS } from "../gateway/errors.ts";
import { Outdated } from "../objects/reconcile-error.ts";
import type { Clock, Timer } from "../runtime/clock.ts";

/** Who goes first when requests are scarce: what people wait for, then what failed before, then routine looks. */
export const lanes = ["edit", "retry", "sync"] as const;
export type Lane = (typeof lanes)[number];

interface Waiter {
  resolve: () => void;
  reject: (reason: unknown) => void;
}

export interface RequestBudgetOptions {
  /** 0 is no limit. */
  perMinute: number;
  clock: Clock;
  /** Told how long a request had to wait, in seconds. */
  onWait?: (lane: Lane, seconds: number) => void;
}

const MINUTE_MS = 60_000;
/** After a 429 the rate drops to this share, and comes back in steps of a tenth a minute. */
const BACK_OFF = 0.7;
const RECOVERY_PER_MS = 0.1 / MINUTE_MS;

/**
 * How many requests one account may be sent. A token bucket whose burst is a fifth of a minute's requests, so that a
 * full burst and a full minute stay within a service limit of 120 at the default of 100.
 */
export class RequestBudget {
  readonly #options: RequestBudgetOptions;
  readonly #queues: Record<Lane, Set<Waiter>> = { edit: new Set(), retry: new Set(), sync: new Set() };
  readonly #burst: number;
  #tokens: number;
  #rateShare = 1;
  #countedAt: number;
  #pausedUntil = 0;
  #isShutDown = false;
  #timer: Timer | undefined;

  constructor(options: RequestBudgetOptions) {
    this.#options = options;
    this.#burst = Math.max(1, Math.floor(options.perMinute / 5));
    this.#tokens = this.#burst;
    this.#countedAt = options.clock.now();
  }

  /**
   * Resolves when one request may be sent. Rejects with the signal's reason, or with Outdated when the budget has
   * ended, and then takes nothing.
   */
  async acquire(lane: Lane, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const since = this.#options.clock.now();
    if (!this.#mustWait(lane)) {
      this.#tokens -= 1;
      return;
    }
    if (this.#isShutDown) throw shutDownError();
    await this.#enqueue(lane, signal);
    this.#options.onWait?.(lane, (this.#options.clock.now() - since) / 1000);
  }

  /** What was taken was not used: it is the next one's. */
  refund(): void {
    this.#tokens += 1;
    this.#dispatch();
  }

  /**
   * The service said 429: nothing more is sent before it said it may be. Several such answers in one pause are to
   * requests that were under way together, and slow down once.
   */
  pauseAfter429(retryAfterSeconds = 1): void {
    const now = this.#options.clock.now();
    this.#refill(now);
    const isPaused = now < this.#pausedUntil;
    const pause = Math.min(retryAfterSeconds * 1000, LONGEST_PAUSE_MS);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pause);
    // nothing is saved up meanwhile: one goes first, and the others follow at their rate
    this.#tokens = 1;
    if (!isPaused) this.#rateShare = Math.max(this.#rateShare * BACK_OFF, 0.1);
    this.#schedule();
  }

  /** The process is about to end: whoever has to wait for a request leaves it to the next one. */
  shutDown(): void {
    this.#isShutDown = true;
    for (const lane of lanes) {
      for (const waiter of this.#queues[lane]) waiter.reject(shutDownError());
      this.#queues[lane].clear();
    }
    this.#schedule();
  }

  #mustWait(lane: Lane): boolean {
    const now = this.#options.clock.now();
    this.#refill(now);
    const ahead = lanes.slice(0, lanes.indexOf(lane) + 1).some((name) => this.#queues[name].size > 0);
    return ahead || now < this.#pausedUntil || !this.#hasToken();
  }

  #enqueue(lane: Lane, signal?: AbortSignal): Promise<void> {
    const queue = this.#queues[lane];
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.delete(waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        resolve: () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
        reject: (reason) => {
          signal?.removeEventListener("abort", leave);
          reject(reason);
        },
      };
      signal?.addEventListener("abort", leave, { once: true });
      queue.add(waiter);
      this.#schedule();
    });
  }

  #hasToken = (): boolean => this.#options.perMinute === 0 || this.#tokens >= 1;

  #perMs = (): number => (this.#options.perMinute * this.#rateShare) / MINUTE_MS;

  #refill(now: number): void {
    const passed = now - this.#countedAt;
    const open = Math.max(now - Math.max(this.#countedAt, this.#pausedUntil), 0);
    this.#countedAt = now;
    this.#tokens = Math.min(this.#burst, this.#tokens + open * this.#perMs());
    this.#rateShare = Math.min(1, this.#rateShare + passed * RECOVERY_PER_MS);
  }

  #dispatch(): void {
    const now = this.#options.clock.now();
    this.#refill(now);
    while (now >= this.#pausedUntil && this.#hasToken()) {
      const waiter = this.#next();
      if (!waiter) return;
      this.#tokens -= 1;
      waiter.resolve();
    }
    this.#schedule();
  }

  #next(): Waiter | undefined {
    for (const lane of lanes) {
      const [first] = this.#queues[lane];
      if (!first) continue;
      this.#queues[lane].delete(first);
      return first;
    }
    return undefined;
  }

  #schedule(): void {
    this.#timer?.clear();
    this.#timer = undefined;
    if (lanes.every((lane) => this.#queues[lane].size === 0)) return;
    const { clock } = this.#options;
    const missing = this.#hasToken() ? 0 : (1 - this.#tokens) / this.#perMs();
    const wait = Math.max(this.#pausedUntil - clock.now(), missing, 0);
    this.#timer = clock.setTimeout(() => this.#dispatch(), Math.ceil(wait));
  }
}

const shutDownError = (): Outdated => new Outdated("The operator is stopping");
