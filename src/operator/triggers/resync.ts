import type { Account } from "../../account/account.ts";
import type { Resource } from "../../gateway/resource.ts";
import { type Clock, sleep } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import type { Kind } from "../../schema/define.ts";
import { type AccountLookup, accountsUsed, type ListedResource, listedResources } from "./listed-resources.ts";

export interface ResyncOptions extends AccountLookup {
  kinds: readonly Kind[];
  clock: Clock;
  log: Logger;
  resyncSeconds: number;
  random?: () => number;
}

/**
 * Finds changes that other clients made in the account, until the signal aborts. Once per interval it lists each
 * resource that has remotes of objects, or certificates that these may serve; the account then reports the list delta. A
 * list that fails is repeated after the next interval: objects that have to do something report an outage themselves.
 */
export async function resync(options: ResyncOptions, signal: AbortSignal): Promise<void> {
  await Promise.all(listedResources(options.kinds).map((one) => resyncResource(one, options, signal)));
}

async function resyncResource(
  { resource, usedBy }: ListedResource,
  options: ResyncOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, resyncSeconds, random = Math.random } = options;
  const intervalMs = resyncSeconds * 1000;
  // jitter, so that resources are not listed at the same time
  const wait = () => intervalMs * (0.9 + 0.2 * random());
  const listing = new Map<Account, Promise<void>>();
  while (await slept(clock, wait(), signal)) {
    // the accounts are listed side by side: none waits for the service or the budget of another
    for (const account of accountsUsed(usedBy, options)) {
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
    await collection.listed(clock.now(), { lane: "sync" });
  } catch (error) {
    if (!signal.aborted) log.warn({ error, resource: resource.name }, "Resync failed");
  }
}

/** False if the signal aborted the wait. */
async function slept(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(clock, milliseconds, signal);
    return true;
  } catch {
    return false;
  }
}
