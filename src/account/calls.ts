import type { CallOptions } from "../gateway/client.ts";
import { isGatewayError, isLimited, isNotFound } from "../gateway/errors.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import type { Lane, RequestBudget } from "./request-budget.ts";

/** How a request is sent: in which lane it waits, and when to give up. */
export interface RequestOptions {
  lane: Lane;
  signal: AbortSignal;
}

export interface CallsOptions {
  budget: RequestBudget;
  breaker: CircuitBreaker;
  /** Asked before each request, and again when its first byte is about to be written; throws when it must not be sent. */
  assertMaySend: () => void;
}

type Call<T> = (options: CallOptions) => Promise<T>;

/** The requests of one account: each waits for its turn, and what its answer says about the account is heeded. */
export class Calls {
  readonly #options: CallsOptions;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Waits until one request may be sent. */
  async admit({ lane, signal }: RequestOptions): Promise<void> {
    const { budget, breaker } = this.#options;
    breaker.check();
    await budget.acquire(lane, signal);
    try {
      // it may have closed in the meantime
      breaker.beginRequest();
    } catch (error) {
      budget.refund();
      throw error;
    }
  }

  async read<T>(call: Call<T>, request: RequestOptions): Promise<T> {
    await this.admit(request);
    return this.#send(call, request.signal);
  }

  async change<T>(call: Call<T>, request: RequestOptions): Promise<T> {
    await this.admit(request);
    return this.changeAdmitted(call, request.signal);
  }

  /** A change whose turn has come before, so that nothing delays it now. */
  async changeAdmitted<T>(call: Call<T>, signal: AbortSignal): Promise<T> {
    return this.#send(call, signal);
  }

  /** A removal. A 404 counts as done, and is told by false. */
  async delete(call: Call<void>, request: RequestOptions): Promise<boolean> {
    try {
      await this.change(call, request);
      return true;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return false;
    }
  }

  /** What each call of the client is given. */
  callOptions(signal: AbortSignal): CallOptions {
    return { signal, assertMaySend: this.#options.assertMaySend };
  }

  async #send<T>(call: Call<T>, signal: AbortSignal): Promise<T> {
    const { budget, breaker, assertMaySend } = this.#options;
    assertMaySend();
    try {
      const answer = await call(this.callOptions(signal));
      breaker.succeeded();
      return answer;
    } catch (error) {
      // what was not sent for want of the permission says nothing about the service
      assertMaySend();
      if (isLimited(error)) budget.pauseAfter429(error.retryAfterSeconds);
      if (isGatewayError(error)) breaker.failed(error);
      throw error;
    }
  }
}

/** Services echo secrets, and nothing that is kept may hold one: an answer without members of these names. */
export function withoutSecrets(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, names));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !names.includes(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutSecrets(member, names)]));
}
