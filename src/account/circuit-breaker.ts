import { type GatewayError, isUnauthorized, isUnavailable, LONGEST_PAUSE_MS, NO_API_KEY } from "../gateway/errors.ts";
import type { Clock } from "../runtime/clock.ts";

/** This many failures in a row to reach the service count as an outage. */
const OUTAGE_FAILURES = 5;

const FIRST_PROBE_MS = 2_000;
const MAX_PROBE_MS = 60_000;

interface OpenState {
  error: GatewayError;
  probeAt: number;
  delayMs: number;
  /** A probe was sent and is not answered yet. */
  probing: boolean;
}

export interface CircuitBreakerOptions {
  clock: Clock;
  /** Called when the breaker closes again: reconcile what it failed meanwhile. */
  onRecovered?: () => void;
  onOpened?: () => void;
}

/**
 * Stops requests that would fail like the last one: the service is away, or refuses the account's key. While the
 * breaker is open, one request at a time goes through as a probe, with growing pauses between probes. Every other
 * request fails at once with the error of the last one. An answer to a probe closes the breaker.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #failures = 0;
  #open: OpenState | undefined;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  /** The error that keeps the breaker open; undefined while it is closed. */
  get problem(): GatewayError | undefined {
    return this.#open?.error;
  }

  /** The breaker is open, and would let the next request through as a probe. */
  get isProbeDue(): boolean {
    return this.#open !== undefined && this.#options.clock.now() >= this.#open.probeAt;
  }

  /** Throws the error that opened the breaker, unless a request may be sent now. */
  check(): void {
    if (this.#open && !this.isProbeDue) throw this.#open.error;
  }

  /** Like `check`, for a request that is sent right after. If it is a probe, the next probe has to wait. */
  beginRequest(): void {
    this.check();
    const open = this.#open;
    if (!open) return;
    open.probeAt = this.#options.clock.now() + open.delayMs;
    open.probing = true;
  }

  /** The service answered, whatever it said about the request. */
  succeeded(): void {
    this.#failures = 0;
    if (!this.#open) return;
    this.#open = undefined;
    this.#options.onRecovered?.();
  }

  failed(error: GatewayError): void {
    if (!affectsAllRequests(error)) {
      this.succeeded();
      return;
    }
    this.#failures += 1;
    if (!this.#open && isUnavailable(error) && error.code !== NO_API_KEY && this.#failures < OUTAGE_FAILURES) return;
    if (!this.#open) {
      this.#openWith(error, FIRST_PROBE_MS);
      this.#options.onOpened?.();
      return;
    }
    // ignore requests that were under way when the breaker opened: only the failure of a probe delays the next probe
    if (this.#open.probing) this.#openWith(error, Math.min(this.#open.delayMs * 2, MAX_PROBE_MS));
  }

  #openWith(error: GatewayError, delayMs: number): void {
    const asked = Math.min((error.retryAfterSeconds ?? 0) * 1000, LONGEST_PAUSE_MS);
    const probeAt = this.#options.clock.now() + Math.max(delayMs, asked);
    this.#open = { error, delayMs, probeAt, probing: false };
  }

  /** Lets the next request through as a probe. Call it when the account changed, for example its key. */
  probeSoon(): void {
    if (this.#open) this.#open.probeAt = this.#options.clock.now();
  }
}

/** A service that refuses one request may accept the next one. */
const affectsAllRequests = (error: GatewayError): boolean => isUnauthorized(error) || isUnavailable(error);
