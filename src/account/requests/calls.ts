import type { CallOptions } from "../../gateway/client.ts";
import { isGatewayError, isLimited, isNotFound, mayArriveLate, mayBeCarriedOut } from "../../gateway/errors.ts";
import { digestOf, type KeyProof } from "../key-proof.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import type { Lane } from "./request-budget.ts";
import { type Turn, waitFor } from "./turn.ts";
import type { Turns } from "./turns.ts";

/** How a caller waits for a list. The list is sent if none is under way. */
export interface ListRequest {
  lane: Lane;
  /** Ends the wait. The list goes on, since other callers may share it. */
  signal?: AbortSignal | undefined;
  /** Set by reconciles. A reconcile that would have to wait for long is postponed (throws Postponed). */
  turn?: Turn | undefined;
}

/** How a request is sent: its lane in the request budget, and the signal that aborts it. */
export interface RequestOptions extends ListRequest {
  signal: AbortSignal;
  /** Members of a body that hold values of Secrets. Errors of such a request never quote the service. */
  secretMembers?: ReadonlySet<string>;
  /**
   * Marks a probe: a request that only shows whether the service answers and accepts the key. While the circuit breaker
   * is open, it lets nothing else through.
   */
  isProbe?: true;
  /**
   * Called after the wait for the budget, right before the first byte of a change. Throws if the reason for the request
   * no longer holds. The request is then not sent.
   */
  assertValid?: () => void;
  /** Called when no answer has ended a change, so that the service may carry it out later. */
  onUnanswered?: () => void;
}

/** Whether one of these members holds a value of a Secret. */
export const isConfidential = (members: readonly string[], { secretMembers }: RequestOptions): boolean =>
  members.some((member) => secretMembers?.has(member));

export interface CallsOptions {
  turns: Turns;
  breaker: CircuitBreaker;
  /** Called before each request, and right before its first byte is written. Throws if this process may not send. */
  assertMaySend: () => void;
  /** Whether the API key belongs to the account. Learns which ids the service has shown. */
  keyProof: KeyProof;
  /** Called after each change that the service carried out. */
  onWritten: () => void;
}

type Call<T> = (options: CallOptions) => Promise<T>;

/** The requests of one account: each waits for the budget, and its answer is reported to budget and circuit breaker. */
export class Calls {
  readonly #options: CallsOptions;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Waits until one request may be sent. */
  async admit(request: RequestOptions): Promise<void> {
    const { turns, breaker } = this.#options;
    if (!request.isProbe) await this.#ready(request);
    await turns.acquire(request);
    // A request that waits for the breaker keeps no place in the budget. Otherwise the breaker's probe would have to
    // wait behind it.
    while (breaker.isProbing && !request.isProbe) {
      turns.refund(request.turn);
      await this.#ready(request);
      await turns.acquire(request);
    }
    try {
      // The breaker may have opened during the wait.
      if (request.isProbe) breaker.beginProbe();
      else breaker.check();
      request.assertValid?.();
    } catch (error) {
      turns.refund(request.turn);
      throw error;
    }
  }

  async #ready(request: RequestOptions): Promise<void> {
    const { breaker } = this.#options;
    if (breaker.isProbing) await waitFor(breaker.ready(), request);
    breaker.check();
  }

  /** Waits for a list or other work that callers share. See `waitFor`. */
  waitFor<T>(work: Promise<T>, request: ListRequest, since = Number.NEGATIVE_INFINITY): Promise<T> {
    const { turn } = request;
    // A later reconcile would ask for a later list again, and never end. So the reconcile waits here unless the service
    // has asked for a pause.
    return waitFor(work, request, () => !turn || since <= turn.startedAt || this.#options.turns.budget.isPaused);
  }

  async read<T>(call: Call<T>, request: RequestOptions): Promise<T> {
    await this.admit(request);
    return this.#send(call, request.signal, () => true);
  }

  /** Like `admit`, for a change. */
  async admitChange(request: RequestOptions): Promise<void> {
    await waitFor(this.#options.keyProof.ensureRecorded(), request);
    await this.admit(request);
  }

  async change<T>(call: Call<T>, request: RequestOptions): Promise<T> {
    await this.admitChange(request);
    return this.changeAdmitted(call, request);
  }

  /** Sends a change for which `admitChange` has waited already, so it is sent at once. */
  async changeAdmitted<T>(call: Call<T>, request: Omit<RequestOptions, "lane">): Promise<T> {
    const { signal, assertValid, onUnanswered } = request;
    const { assertMaySend, keyProof, onWritten } = this.#options;
    const assertMayChange = (key: string) => {
      assertMaySend();
      keyProof.assertMayChange(digestOf(key));
      // The key, and with it the account of an object, may have changed during the wait.
      assertValid?.();
    };
    const sending: Call<T> = (options) => call({ ...options, assertMaySend: assertMayChange });
    // Whoever asked for a change has to know that it may have been carried out, although this process may send no more.
    const send = this.#send(sending, signal, (error) => !mayBeCarriedOut(error));
    const answer = await send.catch((error: unknown) => {
      if (mayArriveLate(error)) onUnanswered?.();
      throw error;
    });
    keyProof.recordFirstID();
    onWritten();
    return answer;
  }

  /** A deletion. Returns false when the answer was 404: the remote was gone already. */
  async delete(call: Call<void>, request: RequestOptions): Promise<boolean> {
    try {
      await this.change(call, request);
      return true;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return false;
    }
  }

  callOptions(signal: AbortSignal): CallOptions {
    return { signal, assertMaySend: this.#options.assertMaySend };
  }

  /** `isIdle`: whether a failure does not matter to a process that may not send any more. */
  async #send<T>(call: Call<T>, signal: AbortSignal, isIdle: (error: unknown) => boolean): Promise<T> {
    const { turns, breaker, assertMaySend } = this.#options;
    assertMaySend();
    const { probeEpoch } = breaker;
    try {
      const answer = await call(this.callOptions(signal));
      breaker.succeeded(probeEpoch);
      return answer;
    } catch (error) {
      // A request that this process may not send must not count as a failure of the service.
      if (isIdle(error)) assertMaySend();
      if (isLimited(error)) turns.budget.pauseAfter429(error.retryAfterSeconds);
      if (isGatewayError(error)) breaker.failed(error, probeEpoch);
      throw error;
    }
  }
}

/** The answer without members of these names, at any depth. Services return secrets, and no cache may contain one. */
export function withoutSecrets<T>(value: T, names: readonly string[]): T {
  return names.length > 0 ? (without(value, names) as T) : value;
}

function without(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => without(item, names));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !names.includes(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, without(member, names)]));
}
