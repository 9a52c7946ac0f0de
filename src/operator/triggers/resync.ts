import type { Account } from "../../account/account.ts";
import type { Resource } from "../../gateway/resource.ts";
import type { Clock } from "../../runtime/clock.ts";
import { sleep } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import type { Kind } from "../../schema/define.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Stores } from "../kubernetes/kube-cluster.ts";
import { accountsUsed, type ListedResource, listedResources } from "./listed-resources.ts";

export interface ResyncOptions {
  kinds: readonly Kind[];
  accounts: Pick<Accounts, "accountOf">;
  informers: Stores;
  clock: Clock;
  log: Logger;
  resyncSeconds: number;
  random?: () => number;
}

/**
 * Looks for changes that somebody else made in the account: one list per resource and interval, and only of resources
 * that some object stands for. What a list changes is told by the account to whoever asked to be told. Ends with the
 * signal; a list that fails is left to the next interval, since objects with work to do report an outage themselves.
 */
export async function resync(options: ResyncOptions, signal: AbortSignal): Promise<void> {
  await Promise.all(listedResources(options.kinds).map((one) => resyncResource(one, options, signal)));
}

async function resyncResource(
  { resource, kinds }: ListedResource,
  options: ResyncOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, resyncSeconds, random = Math.random } = options;
  const intervalMs = resyncSeconds * 1000;
  // spread out, so that not every resource is listed in the same moment
  const wait = () => intervalMs * (0.9 + 0.2 * random());
  const listing = new Map<Account, Promise<void>>();
  while (await slept(clock, wait(), signal)) {
    // no account waits for another's service, or its budget
    for (const account of accountsUsed(kinds, options)) {
      if (listing.has(account)) continue;
      const done = list(resource, account, options, signal).finally(() => listing.delete(account));
      listing.set(account, done);
    }
  }
  await Promise.all(listing.values());
}

async function list(
  resource: Resource,
  account: Account,
  { clock, log, resyncSeconds }: ResyncOptions,
  signal: AbortSignal,
) {
  const collection = account.collection(resource);
  if (collection.listedAt !== undefined && clock.now() - collection.listedAt < resyncSeconds * 500) return;
  try {
    await collection.listed(clock.now(), "sync");
  } catch (error) {
    if (!signal.aborted) log.warn({ error, resource: resource.name }, "Resync failed");
  }
}

/** False when the signal ended the wait. */
async function slept(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(clock, milliseconds, signal);
    return true;
  } catch {
    return false;
  }
}
