import { type GatewayError, isUnauthorized, isUnavailable, LONGEST_PAUSE_MS, NO_API_KEY } from "../gateway/errors.ts";
import type { Clock } from "../runtime/clock.ts";

/** So many failures in a row to reach the service are an outage, and no accident of one request. */
const OUTAGE = 5;

const FIRST_PROBE_MS = 2_000;
const LONGEST_PROBE_MS = 60_000;

interface Closed {
  error: GatewayError;
  probeAt: number;
  delayMs: number;
  /** One request has been let through, and is not answered yet. */
  probing: boolean;
}

export interface CircuitBreakerOptions {
  clock: Clock;
  /** Told when requests go through again: whatever was turned away has to be looked at. */
  onOpen?: () => void;
  /** Told when it closes. */
  onClose?: () => void;
}

/**
 * Spares a service, and an account whose key is refused, the requests that would fail like the last one. While it is
 * closed one request is let through now and then, to see whether it is over; the others fail at once, with the words
 * of the last answer.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #failures = 0;
  #closed: Closed | undefined;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  /** Why it is closed. */
  get problem(): GatewayError | undefined {
    return this.#closed?.error;
  }

  /** It is closed, and the next request would be let through. */
  get isDue(): boolean {
    return this.#closed !== undefined && this.#options.clock.now() >= this.#closed.probeAt;
  }

  /** Throws the failure that closed it, unless a request may be sent now. */
  check(): void {
    if (this.#closed && !this.isDue) throw this.#closed.error;
  }

  /** The same for a request that is about to be sent; where it is the one that sees whether it is over, the next waits. */
  enter(): void {
    this.check();
    const closed = this.#closed;
    if (!closed) return;
    closed.probeAt = this.#options.clock.now() + closed.delayMs;
    closed.probing = true;
  }

  /** The service answered, whatever it said about the request. */
  passed(): void {
    this.#failures = 0;
    if (!this.#closed) return;
    this.#closed = undefined;
    this.#options.onOpen?.();
  }

  failed(error: GatewayError): void {
    if (!concernsAll(error)) {
      this.passed();
      return;
    }
    this.#failures += 1;
    if (!this.#closed && isUnavailable(error) && error.code !== NO_API_KEY && this.#failures < OUTAGE) return;
    if (!this.#closed) {
      this.#close(error, FIRST_PROBE_MS);
      this.#options.onClose?.();
      return;
    }
    // of requests that were under way when it closed, and say no more than the first of them
    if (this.#closed.probing) this.#close(error, Math.min(this.#closed.delayMs * 2, LONGEST_PROBE_MS));
  }

  #close(error: GatewayError, delayMs: number): void {
    const asked = Math.min((error.retryAfterSeconds ?? 0) * 1000, LONGEST_PAUSE_MS);
    const probeAt = this.#options.clock.now() + Math.max(delayMs, asked);
    this.#closed = { error, delayMs, probeAt, probing: false };
  }

  /** Something about the account has changed, such as its key: the next request is sent. */
  reopen(): void {
    if (this.#closed) this.#closed.probeAt = this.#options.clock.now();
  }
}

/** A refusal of one request says nothing about the next one. */
const concernsAll = (error: GatewayError): boolean => isUnauthorized(error) || isUnavailable(error);
