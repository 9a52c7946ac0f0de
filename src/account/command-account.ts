import { type ClientOptions, GatewayClient } from "../gateway/client.ts";
import { Outdated } from "../objects/reconcile-error.ts";
import type { Clock } from "../runtime/clock.ts";
import { OPERATOR_NAME } from "../schema/contract.ts";
import { Account } from "./account.ts";
import { digestOf } from "./key-proof.ts";
import type { ListRoom } from "./requests/list-room.ts";
import { RequestBudget } from "./requests/request-budget.ts";

export interface CommandAccountOptions {
  baseURL: string;
  apiKey: () => Promise<string>;
  proxies: ClientOptions["proxies"];
  clock: Clock;
  requestsPerMinute: number;
  requestSeconds: number;
  /** What the lists of the command may take. What it has read before, by the name of the resource, has the same place. */
  room: ListRoom;
  /** Deletes per minute. 0: no limit. */
  deletesPerMinute: number;
  /** Whether operations that the API page does not show are tried. */
  undocumented: boolean;
}

/** An account that a command changes. */
export interface CommandAccount extends AsyncDisposable {
  account: Account;
}

/**
 * Opens the account for a command, which changes it through the same calls as the operator. A person has named the key,
 * and nothing is recorded that could prove it. Nothing is sent any more once another key is read, which may be one of
 * another account.
 */
export function openForCommand(options: CommandAccountOptions): CommandAccount {
  const { apiKey, baseURL, proxies, clock, requestsPerMinute, requestSeconds, deletesPerMinute, room, undocumented } =
    options;
  const abort = new AbortController();
  let digest: string | undefined;
  let isAnother = false;
  const assertMaySend = () => {
    if (isAnother) throw new Outdated("the API key has changed");
  };
  const client = new GatewayClient({
    baseURL,
    proxies,
    userAgent: OPERATOR_NAME,
    apiKey: async () => {
      const key = await apiKey();
      isAnother ||= digest !== undefined && digestOf(key) !== digest;
      assertMaySend();
      digest = digestOf(key);
      account.keyProof.use(digest);
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
    room,
    sharesLists: true,
    budget: new RequestBudget({ perMinute: requestsPerMinute, clock }),
    signal: abort.signal,
    assertMaySend,
  });
  return {
    account,
    async [Symbol.asyncDispose]() {
      abort.abort();
      await client.close();
    },
  };
}
