import {
  type GatewayError,
  isGatewayError,
  isUnauthorized,
  isUnavailable,
  LONGEST_PAUSE_MS,
  NO_API_KEY,
} from "../../gateway/errors.ts";
import type { Clock } from "../../runtime/clock.ts";

/** After this many failures in a row to reach the service, the breaker sends a probe by another route. */
const OUTAGE_FAILURES = 5;

const FIRST_PROBE_MS = 2_000;
const MAX_PROBE_MS = 60_000;

interface OpenState {
  error: GatewayError;
  probeAt: number;
  /** The end of the pause that the service has asked for. */
  askedUntil: number;
  delayMs: number;
  /** Whether a probe was sent and is not answered yet. */
  probing: boolean;
}

export interface CircuitBreakerOptions {
  clock: Clock;
  /**
   * Sends one harmless request, if possible by another route than that of the error, and rejects as it does. Default:
   * the breaker opens without a probe.
   */
  probe?: (error: GatewayError) => Promise<void>;
  /** Called when the breaker closes again. Reconcile the objects that failed since `failingSince`. */
  onRecovered?: (failingSince: number) => void;
  onOpened?: () => void;
}

/**
 * Stops requests that would fail like the last one: the service is away, or refuses the account's key. One route that
 * fails says little about the others, so the breaker opens only if a probe by another route fails as well; until that is
 * answered, other requests wait. While the breaker is open, one probe at a time goes through, with growing pauses. Every
 * other request fails at once with the error of the last probe. An answer to a probe closes the breaker.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #failures = 0;
  #failingSince = 0;
  #open: OpenState | undefined;
  #probing: Promise<void> | undefined;
  /**
   * Changes when the breaker opens, and when a probe is answered. Answers to requests that began before that no longer
   * count.
   */
  #probeEpoch = 0;
  /** A breaker that opens again soon after it was closed continues with this delay. */
  #lastPause = { delayMs: FIRST_PROBE_MS, endedAt: Number.NEGATIVE_INFINITY };

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  /** The error that keeps the breaker open; undefined while it is closed. */
  get problem(): GatewayError | undefined {
    return this.#open?.error;
  }

  /** Whether the breaker is open and would let a probe through. */
  get isProbeDue(): boolean {
    return this.#open !== undefined && this.#options.clock.now() >= this.#open.probeAt;
  }

  /** Whether the service has said when to ask again, and that time has not come yet. */
  get isPauseAsked(): boolean {
    return this.#open !== undefined && this.#options.clock.now() < this.#open.askedUntil;
  }

  /** Whether a probe is under way. Other requests wait for its answer. */
  get isProbing(): boolean {
    return this.#probing !== undefined;
  }

  /** Throws the error that keeps the breaker open. */
  check(): void {
    if (this.#open) throw this.#open.error;
  }

  /** Resolves when it is known whether requests may be sent. Throws the error that keeps the breaker open. */
  async ready(): Promise<void> {
    while (this.#probing) await this.#probing;
    this.check();
  }

  /** Call it right before a probe. Throws unless one is due; the next one has to wait. */
  beginProbe(): void {
    const open = this.#open;
    if (!open) return;
    if (!this.isProbeDue) throw open.error;
    open.probeAt = this.#options.clock.now() + open.delayMs;
    open.probing = true;
  }

  /** The present value has to be passed with the answer to a request that begins now. */
  get probeEpoch(): number {
    return this.#probeEpoch;
  }

  /** Call it when the service answered, whatever it said about the request. */
  succeeded(probeEpoch = this.#probeEpoch): void {
    if (probeEpoch !== this.#probeEpoch) return;
    this.#failures = 0;
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    this.#probeEpoch += 1;
    this.#lastPause = { delayMs: open.delayMs, endedAt: this.#options.clock.now() };
    this.#options.onRecovered?.(this.#failingSince);
  }

  failed(error: GatewayError, probeEpoch = this.#probeEpoch): void {
    if (!affectsAllRequests(error)) this.succeeded(probeEpoch);
    else if (probeEpoch !== this.#probeEpoch || this.#probing) return;
    else if (this.#open) this.#probeFailed(this.#open, error);
    else if (!error.fault) this.#countFailure(error);
  }

  #probeFailed({ probing, delayMs }: OpenState, error: GatewayError): void {
    // A request that was admitted before the breaker opened is not a probe.
    if (probing) this.#pause(error, Math.min(delayMs * 2, MAX_PROBE_MS));
  }

  #countFailure(error: GatewayError): void {
    this.#failures += 1;
    if (this.#failures === 1) this.#failingSince = this.#options.clock.now();
    const { probe } = this.#options;
    const hasKey = error.code !== NO_API_KEY;
    if (hasKey && isUnavailable(error) && this.#failures < OUTAGE_FAILURES) return;
    if (hasKey && probe) this.#probe(error, probe);
    else this.#openWith(error);
  }

  /** Lets a probe through now. Call it when the account changed, for example its key. */
  probeSoon(): void {
    if (this.#open) this.#open.probeAt = this.#options.clock.now();
  }

  #probe(error: GatewayError, probe: (error: GatewayError) => Promise<void>): void {
    this.#probing = probe(error)
      .then(
        () => undefined,
        (problem: unknown) => problem,
      )
      .then((problem) => {
        this.#probing = undefined;
        this.#probeEpoch += 1;
        this.#failures = 0;
        if (isGatewayError(problem) && affectsAllRequests(problem)) this.#openWith(problem);
      });
  }

  #openWith(error: GatewayError): void {
    const { clock, onOpened } = this.#options;
    const { delayMs, endedAt } = this.#lastPause;
    this.#probeEpoch += 1;
    this.#pause(error, clock.now() - endedAt < delayMs ? delayMs : FIRST_PROBE_MS);
    onOpened?.();
  }

  #pause(error: GatewayError, delayMs: number): void {
    const asked = Math.min((error.retryAfterSeconds ?? 0) * 1000, LONGEST_PAUSE_MS);
    const now = this.#options.clock.now();
    const [askedUntil, probeAt] = [now + asked, now + Math.max(delayMs, asked)];
    this.#open = { error, delayMs, askedUntil, probeAt, probing: false };
  }
}

/** An error that affects one request says nothing about the next one. */
const affectsAllRequests = (error: GatewayError): boolean =>
  error.fault !== undefined || isUnauthorized(error) || isUnavailable(error);
