import type { Account } from "../../account/account.ts";
import { type Clock, sleep } from "../../runtime/clock.ts";

interface ProberOptions {
  accounts: {
    readonly all: readonly Account[];
    readonly own: Account;
    /** The API key of the operator's own account, as it is now. Rejects while there is none. */
    readOwnKey: () => Promise<string>;
  };
  clock: Clock;
}

/** How often the operator checks whether the probe of an account is due. */
const POLL_MS = 1000;

/**
 * Sends the probes of all accounts until the signal aborts. A probe finds out whether a service that was away answers
 * again, a refused key is accepted, or missing remotes are back. Objects that wait for this send no requests
 * themselves. The accounts are probed side by side, so that a service that hangs delays no other account.
 */
export async function probe({ accounts, clock }: ProberOptions, signal: AbortSignal): Promise<void> {
  const probing = new Map<Account, Promise<void>>();
  const followOwnKey = followKey(accounts);
  while (!signal.aborted) {
    await followOwnKey();
    for (const account of accounts.all) {
      if (!probing.has(account))
        probing.set(
          account,
          probeAccount(account, signal).finally(() => probing.delete(account)),
        );
    }
    await sleep(clock, POLL_MS, signal).catch(() => undefined);
  }
  await Promise.all(probing.values());
}

/** Ignores failures: the circuit breaker and the mass-loss guard have recorded them. */
async function probeAccount(account: Account, signal: AbortSignal): Promise<void> {
  if (account.breaker.isProbeDue) await account.probe("retry", signal).catch(() => undefined);
  await account.recheckMissing(signal).catch(() => undefined);
}

/**
 * Makes a probe due as soon as there is another key, which should not wait for the next probe. The key is polled,
 * because the kubelet replaces the file of a mounted Secret without a notice.
 */
function followKey(accounts: ProberOptions["accounts"]): () => Promise<void> {
  let known: string | undefined;
  return async () => {
    const key = await accounts.readOwnKey().catch(() => undefined);
    if (key !== undefined && key !== known) accounts.own.breaker.probeSoon();
    known = key;
  };
}
