import type { Account } from "../../account/account.ts";
import type { RecordedIDs } from "../../account/key-proof.ts";
import type { RequestCount } from "../../account/requests/request-count.ts";
import type { GatewayClient } from "../../gateway/client.ts";

/** The API key of one GatewayAccount, or the operator's own. */
export interface Credentials {
  /** `namespace/name` of the GatewayAccount, or "" for the operator's own. */
  readonly key: string;
  /** The uid of the GatewayAccount. */
  readonly uid: string;
  /** The base URL in the spec. */
  readonly specifiedURL: string | undefined;
  readonly baseURL: string;
  readonly apiKey: { read: () => Promise<string>; invalidate: () => void };
  /** The digest of the API key as last read. Undefined when it could not be read. Never leaves this folder. */
  digest: string | undefined;
  /** Like `digest`, but a read that fails changes nothing, unless it shows that there is no key. */
  lastDigest?: string | undefined;
  /** The record of this key for the next process. */
  record?: string | undefined;
  /** Whether the Secret or its entry does not exist. */
  isKeyMissing?: boolean;
  /** The number of the read that gave the digest. */
  lastRead: number;
  /** Digests of former keys that led to the account of the recorded remotes. */
  readonly proved: Set<string>;
  shared: SharedAccount;
  /** Why the operator could not find out yet whether other credentials with this key lead to the same account. */
  failure?: unknown;
  isGone?: true;
  /** The edit and the annotation of the GatewayAccount that were there at its first check, or were answered last. */
  checked?: string;
  /** Like `checked`: the edit and the annotation for which a check has shown whether the key works. */
  answered?: string;
  /** The search for an account with the same key, while it runs. */
  searching?: Promise<void> | undefined;
}

/** An account of the service, and all credentials that lead to it. */
export interface SharedAccount {
  readonly account: Account;
  readonly client: GatewayClient;
  /** Requests to the service. */
  readonly requests: RequestCount;
  readonly baseURL: string;
  readonly credentials: Set<Credentials>;
  /** The digest of the key that all requests use. Undefined while no key could be read. */
  digest: string | undefined;
  readonly abort: AbortController;
  /** Former credentials. Changes that are still under way here concern the accounts that they have now. */
  readonly former: Set<Credentials>;
  /** Ids of all remotes that objects have by these credentials. */
  readonly recorded: () => RecordedIDs;
}

/**
 * The name of the account in messages, logs and metrics: "" for the operator's own account, else its first
 * GatewayAccount.
 */
export const labelOf = ({ credentials }: Pick<SharedAccount, "credentials">): string =>
  [...credentials].map(({ key }) => key).sort()[0] ?? "";

export const isOwn = ({ key }: Credentials): boolean => key === "";
