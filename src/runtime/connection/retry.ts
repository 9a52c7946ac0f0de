import { delayAfter, type Random } from "../backoff.ts";
import { type Clock, sleep } from "../clock.ts";
import { TimedOut } from "../deadline.ts";
import { KubeError, KubeUnreachable } from "./errors.ts";

export interface RetryOptions {
  clock: Clock;
  random: Random;
  /** Also ends the wait between attempts. */
  signal: AbortSignal;
  /** Default true. If not, only what the server has refused unseen is sent again: 429. */
  repeatable?: boolean;
}

const attempts = 5;
const backoff = { base: 0.1, cap: 5 };

/** Retries an attempt that may be repeated without harm. Rejects with the last failure. */
export async function withRetries<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { clock, random, signal, repeatable = true } = options;
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      const after = retryDelaySeconds(error, repeatable);
      if (after === undefined || failures + 1 >= attempts) throw error;
      await sleep(clock, (after + delayAfter(backoff, failures, random)) * 1000, signal).catch((reason) => {
        throw reason instanceof TimedOut ? error : reason;
      });
    }
  }
}

/** The least time to wait before a retry; undefined when a retry would not help. */
function retryDelaySeconds(error: unknown, repeatable: boolean): number | undefined {
  if (!repeatable) return error instanceof KubeError && error.status === 429 ? error.retryAfterSeconds : undefined;
  if (error instanceof KubeUnreachable) return error.code === "ECLOSED" ? undefined : 0;
  if (!(error instanceof KubeError)) return undefined;
  return error.status === 429 || error.status === 503 ? error.retryAfterSeconds : undefined;
}
