import { ipPolicies } from "../gateway/resources/index.ts";
import type { Account } from "../reconcile/account.ts";
import { type Clock, sleep } from "../runtime/clock.ts";

export interface ProberOptions {
  accounts: { readonly all: readonly Account[] };
  clock: Clock;
}

/** How often it is seen whether a probe is due; the gate decides when one is. */
const LOOK_MS = 1000;

/**
 * Asks, at the times the gate of an account allows, whether a service that was away is back, or a key that was refused
 * is accepted, or an account that lacked much is the right one again: whatever waits for that asks nothing itself. Ends
 * with the signal.
 */
export async function probe({ accounts, clock }: ProberOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const due = accounts.all.filter(({ gate }) => gate.isDue);
    // what a failure means, the gate has been told
    await Promise.allSettled(due.map((account) => account.collection(ipPolicies).probe({ lane: "retry", signal })));
    await Promise.allSettled(accounts.all.map((account) => account.lookForLost(signal)));
    await sleep(clock, LOOK_MS, signal).catch(() => undefined);
  }
}
