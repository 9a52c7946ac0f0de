import {
  type GatewayError,
  isGatewayError,
  isUnauthorized,
  isUnavailable,
  LONGEST_PAUSE_MS,
  NO_API_KEY,
} from "../../gateway/errors.ts";
import type { Clock } from "../../runtime/clock.ts";
import { Breaker } from "./breaker.ts";

/** After this many failures in a row to reach the service, the breaker sends a probe by another route. */
const OUTAGE_FAILURES = 5;

/** Between two probes. */
const DELAYS = { base: 2, cap: 60, jitter: 0 };

interface Outage {
  error: GatewayError;
  /** The end of the pause that the service has asked for. */
  askedUntil: number;
}

interface CircuitBreakerOptions {
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
 * other request fails at once with the last error of the service. An answer to a probe closes the breaker.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #failures = 0;
  #failingSince = 0;
  readonly #breaker: Breaker;
  /** Set while the breaker is open. */
  #outage: Outage | undefined;
  #probing: Promise<void> | undefined;
  #acceptedAt = Number.NEGATIVE_INFINITY;
  /**
   * Changes when the breaker opens, and when a probe is answered. Answers to requests that began before that no longer
   * count.
   */
  #probeEpoch = 0;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
    this.#breaker = new Breaker(DELAYS, options.clock);
  }

  /** The error of the service that keeps the breaker open; undefined while it is closed. It has no `fault`. */
  get problem(): GatewayError | undefined {
    return this.#outage?.error;
  }

  /** Whether the breaker is open and would let a probe through. */
  get isProbeDue(): boolean {
    return this.#breaker.isOpen && this.#breaker.secondsLeft === 0;
  }

  /** Whether the service has said when to ask again, and that time has not come yet. */
  get isPauseAsked(): boolean {
    return this.#outage !== undefined && this.#options.clock.now() < this.#outage.askedUntil;
  }

  /** Whether a probe is under way. Other requests wait for its answer. */
  get isProbing(): boolean {
    return this.#probing !== undefined;
  }

  /** Throws the error that keeps the breaker open. */
  check(): void {
    if (this.#outage) throw this.#outage.error;
  }

  /** Resolves when it is known whether requests may be sent. Throws the error that keeps the breaker open. */
  async ready(): Promise<void> {
    while (this.#probing) await this.#probing;
    this.check();
  }

  /** Call it right before a probe. Throws unless one is due; the next one has to wait. */
  beginProbe(): void {
    if (!this.#outage) return;
    if (!this.isProbeDue) throw this.#outage.error;
    this.#breaker.begin();
  }

  /** The present value has to be passed with the answer to a request that begins now. */
  get probeEpoch(): number {
    return this.#probeEpoch;
  }

  /** Whether the service, and with it the key, is known to work: it carried out a request within these last milliseconds. */
  wasAcceptedWithin(milliseconds: number): boolean {
    return !this.#outage && this.#options.clock.now() - this.#acceptedAt < milliseconds;
  }

  /** Call it when the service has carried out a request. */
  succeeded(probeEpoch = this.#probeEpoch): void {
    this.#acceptedAt = this.#options.clock.now();
    this.#answered(probeEpoch);
  }

  /** The service has answered, whatever it said about the request. */
  #answered(probeEpoch: number): void {
    if (probeEpoch !== this.#probeEpoch) return;
    this.#failures = 0;
    if (!this.#outage) return;
    this.#outage = undefined;
    this.#breaker.close();
    this.#probeEpoch += 1;
    this.#options.onRecovered?.(this.#failingSince);
  }

  failed(error: GatewayError, probeEpoch = this.#probeEpoch): void {
    if (!affectsAllRequests(error)) this.#answered(probeEpoch);
    else if (probeEpoch !== this.#probeEpoch || this.#probing) return;
    else if (this.#outage) this.#probeFailed(error);
    else if (!error.fault) this.#countFailure(error);
  }

  #probeFailed(error: GatewayError): void {
    // A request that was admitted before the breaker opened is not a probe.
    if (!this.#breaker.isTrying) return;
    this.#breaker.failed();
    // A mistake of the program says nothing about the service, so the last error of the service stays the problem.
    if (!error.fault) this.#pause(error);
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
    this.#breaker.release();
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
        if (isGatewayError(problem) && !problem.fault && affectsAllRequests(problem)) this.#openWith(problem);
      });
  }

  #openWith(error: GatewayError): void {
    this.#probeEpoch += 1;
    this.#breaker.open();
    this.#pause(error);
    this.#options.onOpened?.();
  }

  #pause(error: GatewayError): void {
    const asked = Math.min((error.retryAfterSeconds ?? 0) * 1000, LONGEST_PAUSE_MS);
    this.#breaker.hold(asked / 1000);
    this.#outage = { error, askedUntil: this.#options.clock.now() + asked };
  }
}

/** An error that affects one request says nothing about the next one. */
const affectsAllRequests = (error: GatewayError): boolean =>
  error.fault !== undefined || isUnauthorized(error) || isUnavailable(error);
