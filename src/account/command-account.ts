import { type ClientOptions, GatewayClient } from "../gateway/client.ts";
import type { Clock } from "../runtime/clock.ts";
import { Account } from "./account.ts";
import { digestOf } from "./key-proof.ts";
import { RequestBudget } from "./requests/request-budget.ts";

export interface CommandAccountOptions {
  baseURL: string;
  apiKey: () => Promise<string>;
  proxies: ClientOptions["proxies"];
  userAgent: string;
  clock: Clock;
  requestsPerMinute: number;
  requestSeconds: number;
  /** Whether operations that the API page does not show are tried. */
  undocumented: boolean;
  /** Deletes per minute. 0: no limit. */
  deletesPerMinute: number;
}

/** An account that a command changes. */
export interface CommandAccount extends AsyncDisposable {
  account: Account;
}

/**
 * Opens the account for a command, which changes it through the same calls as the operator. A person has named the key,
 * and nothing is recorded that could prove it. If another key comes into use while the command runs, nothing that was
 * read before counts.
 */
export function openForCommand(options: CommandAccountOptions): CommandAccount {
  const {
    apiKey,
    baseURL,
    proxies,
    userAgent,
    clock,
    requestsPerMinute,
    requestSeconds,
    undocumented,
    deletesPerMinute,
  } = options;
  const abort = new AbortController();
  const client = new GatewayClient({
    baseURL,
    proxies,
    userAgent,
    apiKey: async () => {
      const key = await apiKey();
      account.keyProof.use(digestOf(key));
      return key;
    },
    timeoutMs: requestSeconds * 1000,
    onDate: (date) => account.serviceTime.observe(date),
  });
  const account: Account = new Account({
    client,
    clock,
    undocumented,
    deletesPerMinute,
    budget: new RequestBudget({ perMinute: requestsPerMinute, clock }),
    deadlineMs: requestSeconds * 1000,
    signal: abort.signal,
    assertMaySend: () => {},
  });
  return {
    account,
    async [Symbol.asyncDispose]() {
      abort.abort();
      await client.close();
    },
  };
}
