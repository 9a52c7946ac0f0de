import type { CallOptions } from "../gateway/client.ts";
import { isGatewayError, isLimited, isNotFound } from "../gateway/errors.ts";
import type { Budget, Lane } from "./budget.ts";
import type { Gate } from "./gate.ts";

/** How a request is sent: in which lane it waits, and when to give up. */
export interface Sending {
  lane: Lane;
  signal: AbortSignal;
}

export interface CallsOptions {
  budget: Budget;
  gate: Gate;
  /** Asked before anything is changed in the account, and again when it is about to be sent; throws when it must not be. */
  permit: () => void;
}

type Call<T> = (options: CallOptions) => Promise<T>;

/** The requests of one account: each waits for its turn, and what its answer says about the account is heeded. */
export class Calls {
  readonly #options: CallsOptions;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Waits until one request may be sent. */
  async admit({ lane, signal }: Sending): Promise<void> {
    this.#options.gate.enter();
    await this.#options.budget.acquire(lane, signal);
  }

  async read<T>(call: Call<T>, sending: Sending): Promise<T> {
    await this.admit(sending);
    return this.#watched(() => call({ signal: sending.signal }));
  }

  async change<T>(call: Call<T>, sending: Sending): Promise<T> {
    await this.admit(sending);
    return this.admitted(call, sending.signal);
  }

  /** A change whose turn has come before, so that nothing delays it now. */
  async admitted<T>(call: Call<T>, signal: AbortSignal): Promise<T> {
    const { permit } = this.#options;
    permit();
    // the key may have to be read and a connection made, which takes its time
    return this.#watched(() => call({ signal, permit }));
  }

  /** A removal. A 404 counts as done, and is told by false. */
  async unlessGone(call: Call<void>, sending: Sending): Promise<boolean> {
    try {
      await this.change(call, sending);
      return true;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return false;
    }
  }

  async #watched<T>(call: () => Promise<T>): Promise<T> {
    const { budget, gate } = this.#options;
    try {
      const answer = await call();
      gate.passed();
      return answer;
    } catch (error) {
      if (isLimited(error)) budget.limited(error.retryAfterSeconds);
      if (isGatewayError(error)) gate.failed(error);
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
