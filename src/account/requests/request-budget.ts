import { LONGEST_PAUSE_MS } from "../../gateway/errors.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import type { Clock, Timer } from "../../runtime/clock.ts";

/**
 * The lanes, in the order in which their requests are sent: after edits, after failures, at resyncs. Each lane gets at
 * least a tenth of the requests.
 */
export const lanes = ["edit", "retry", "sync"] as const;
export type Lane = (typeof lanes)[number];

/** Further requests of reconciles that have sent one already go before all lanes, so that these reconciles end soon. */
const lines = ["begun", ...lanes] as const;
type Line = (typeof lines)[number];

interface Waiter {
  resolve: () => void;
  reject: (reason: unknown) => void;
}

interface RequestBudgetOptions {
  /** Requests per minute. 0: no limit. */
  perMinute: number;
  clock: Clock;
  /** Called when a request may be sent. `waited`: how many seconds it had to wait. */
  onTurn?: (lane: Lane, waited: number) => void;
  /** Called when the service asks for a pause that people should be told of. */
  onLongPause?: () => void;
}

/**
 * When this many requests of other lanes were sent while a lane waited, this lane has the next turn. So each lane gets
 * a tenth of the requests, even when two lanes wait for their turns at the same time.
 */
const LONGEST_PASSED_OVER = 8;

const MINUTE_MS = 60_000;
/** A pause of at least this length stands in statuses. A shorter one is over before anybody reads them. */
export const LONG_PAUSE_MS = 5_000;
/** A new object says that it waits for its turn if that takes at least this long. */
export const LONG_WAIT_MS = 30_000;
/** A 429 lowers the rate to this share. The rate then recovers by a tenth of the full rate per minute. */
const SLOWDOWN = 0.7;
const RECOVERY_PER_MS = 0.1 / MINUTE_MS;

/**
 * The request rate of one account: a token bucket whose burst is a fifth of a minute's requests. At the default of 100
 * requests a minute, a burst and the minute after it so stay within a service limit of 120.
 */
export class RequestBudget {
  readonly #options: RequestBudgetOptions;
  readonly #queues: Record<Line, Set<Waiter>> = {
    begun: new Set(),
    edit: new Set(),
    retry: new Set(),
    sync: new Set(),
  };
  /** How many requests of other lines were sent while this line waited. */
  readonly #passedOver: Record<Line, number> = { begun: 0, edit: 0, retry: 0, sync: 0 };
  readonly #burst: number;
  #tokens: number;
  #rateShare = 1;
  #countedAt: number;
  #pausedUntil = 0;
  /** The same moment by the calendar, for people. */
  #pauseEnd = new Date(0);
  #isShutDown = false;
  #timer: Timer | undefined;

  constructor(options: RequestBudgetOptions) {
    this.#options = options;
    this.#burst = Math.max(1, Math.floor(options.perMinute / 5));
    this.#tokens = this.#burst;
    this.#countedAt = options.clock.now();
  }

  /**
   * Takes a token if there is one. False: the request would have to wait. `line`: where it stands. `onTurn` gets the lane.
   */
  tryAcquire(lane: Lane, line: Line = lane): boolean {
    if (this.#mustWait(line)) return false;
    this.#letThrough(line);
    this.#options.onTurn?.(lane, 0);
    return true;
  }

  /**
   * Resolves when one request may be sent. Rejects with the signal's reason, or with Outdated when the request would
   * have to wait after `shutDown`, and takes no token then. `line`: where it waits. `onTurn` gets the lane.
   */
  async acquire(lane: Lane, signal?: AbortSignal, line: Line = lane): Promise<void> {
    signal?.throwIfAborted();
    const since = this.#options.clock.now();
    if (this.tryAcquire(lane, line)) return;
    if (this.#isShutDown) throw shutDownError();
    await this.#enqueue(line, signal);
    this.#options.onTurn?.(lane, (this.#options.clock.now() - since) / 1000);
  }

  /** Whether the service has asked for a pause that is not over yet. */
  get isPaused(): boolean {
    return this.#options.clock.now() < this.#pausedUntil;
  }

  /** When the pause ends, by the calendar. Undefined: there is no pause. */
  get pauseEnd(): Date | undefined {
    return this.isPaused ? this.#pauseEnd : undefined;
  }

  /** How many requests wait for their turn. */
  get waiting(): number {
    return lines.reduce((sum, line) => sum + this.#queues[line].size, 0);
  }

  /** Within how many milliseconds all that wait now may be sent, if there is no pause. */
  get waitMs(): number {
    const { perMinute } = this.#options;
    return perMinute === 0 ? 0 : Math.max(this.waiting - this.#tokens, 0) / this.#perMs();
  }

  /** The configured rate. A 429 lowers the real one for a while. 0: no limit. */
  get perMinute(): number {
    return this.#options.perMinute;
  }

  /** Gives a token back that was not used. During a pause it is void: it was taken before the pause. */
  refund(): void {
    if (!this.isPaused) this.#tokens += 1;
    this.#dispatch();
  }

  /**
   * The service answered 429: sends nothing until its Retry-After has passed, and more slowly after that. Further 429s
   * during the pause answer requests that were under way together, so they do not lower the rate again.
   */
  pauseAfter429(retryAfterSeconds = 1): void {
    const now = this.#options.clock.now();
    this.#refill(now);
    const { isPaused } = this;
    const pause = Math.min(retryAfterSeconds * 1000, LONGEST_PAUSE_MS);
    if (now + pause > this.#pausedUntil) {
      this.#pausedUntil = now + pause;
      this.#pauseEnd = new Date(this.#options.clock.date().getTime() + pause);
    }
    // No burst after the pause: one request, and then the others at the rate.
    this.#tokens = 1;
    if (!isPaused) this.#rateShare = Math.max(this.#rateShare * SLOWDOWN, 0.1);
    if (!isPaused && pause >= LONG_PAUSE_MS) this.#options.onLongPause?.();
    this.#schedule();
  }

  /** Call it when the process is about to stop. Requests that wait, or would have to, are rejected. */
  shutDown(): void {
    this.#isShutDown = true;
    for (const line of lines) {
      for (const waiter of this.#queues[line]) waiter.reject(shutDownError());
      this.#queues[line].clear();
    }
    this.#schedule();
  }

  #mustWait(line: Line): boolean {
    const now = this.#options.clock.now();
    this.#refill(now);
    const isBehindOthers = lines.slice(0, lines.indexOf(line) + 1).some((name) => this.#queues[name].size > 0);
    return isBehindOthers || this.#passedOverLine() !== undefined || now < this.#pausedUntil || !this.#hasToken();
  }

  #enqueue(line: Line, signal?: AbortSignal): Promise<void> {
    const queue = this.#queues[line];
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
    const elapsedMs = now - this.#countedAt;
    const refillMs = Math.max(now - Math.max(this.#countedAt, this.#pausedUntil), 0);
    this.#countedAt = now;
    this.#tokens = Math.min(this.#burst, this.#tokens + refillMs * this.#perMs());
    this.#rateShare = Math.min(1, this.#rateShare + elapsedMs * RECOVERY_PER_MS);
  }

  #dispatch(): void {
    const now = this.#options.clock.now();
    this.#refill(now);
    while (now >= this.#pausedUntil && this.#hasToken()) {
      const line = this.#passedOverLine() ?? lines.find((one) => this.#queues[one].size > 0);
      const [waiter] = line ? this.#queues[line] : [];
      if (!line || !waiter) return;
      this.#queues[line].delete(waiter);
      this.#letThrough(line);
      waiter.resolve();
    }
    this.#schedule();
  }

  #letThrough(line: Line): void {
    this.#tokens -= 1;
    for (const other of lines) this.#passedOver[other] = this.#queues[other].size > 0 ? this.#passedOver[other] + 1 : 0;
    this.#passedOver[line] = 0;
  }

  /** The line that was passed over for too long, if any. */
  #passedOverLine(): Line | undefined {
    const waiting = lines.filter((line) => this.#queues[line].size > 0);
    const [line] = waiting.sort((one, other) => this.#passedOver[other] - this.#passedOver[one]);
    return line && this.#passedOver[line] >= LONGEST_PASSED_OVER ? line : undefined;
  }

  #schedule(): void {
    this.#timer?.clear();
    this.#timer = undefined;
    if (lines.every((line) => this.#queues[line].size === 0)) return;
    const { clock } = this.#options;
    const missing = this.#hasToken() ? 0 : (1 - this.#tokens) / this.#perMs();
    const wait = Math.max(this.#pausedUntil - clock.now(), missing, 0);
    this.#timer = clock.setTimeout(() => this.#dispatch(), Math.ceil(wait));
  }
}

const shutDownError = (): Outdated => new Outdated("The operator is stopping");
