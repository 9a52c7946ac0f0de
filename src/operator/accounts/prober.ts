import type { Account } from "../../account/account.ts";
import { ipPolicies } from "../../gateway/resources/index.ts";
import { type Clock, sleep } from "../../runtime/clock.ts";

export interface ProberOptions {
  accounts: { readonly all: readonly Account[] };
  clock: Clock;
}

/** How often it is seen whether a probe is due; the gate decides when one is. */
const LOOK_MS = 1000;

/**
 * Asks, at the times the gate of an account allows, whether a service that was away is back, or a key that was refused
 * is accepted, or an account that lacked much is the right one again: whatever waits for that asks nothing itself. No
 * account waits for another's service. Ends with the signal.
 */
export async function probe({ accounts, clock }: ProberOptions, signal: AbortSignal): Promise<void> {
  const asking = new Map<Account, Promise<void>>();
  while (!signal.aborted) {
    for (const account of accounts.all) {
      if (!asking.has(account))
        asking.set(
          account,
          ask(account, signal).finally(() => asking.delete(account)),
        );
    }
    await sleep(clock, LOOK_MS, signal).catch(() => undefined);
  }
  await Promise.all(asking.values());
}

/** What a failure means, the gate has been told. */
async function ask(account: Account, signal: AbortSignal): Promise<void> {
  const { breaker } = account;
  if (breaker.isDue)
    await account
      .collection(ipPolicies)
      .probe({ lane: "retry", signal })
      .catch(() => undefined);
  await account.lookForLost(signal).catch(() => undefined);
}
