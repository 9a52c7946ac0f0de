import type { Kind } from "../kinds/define.ts";
import type { Account } from "../reconcile/account.ts";
import type { Clock } from "../runtime/clock.ts";
import { sleep } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";
import type { Informers } from "./kube-cluster.ts";

export interface SweeperOptions {
  kinds: readonly Kind[];
  account: Account;
  informers: Informers;
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
export async function sweep(options: SweeperOptions, signal: AbortSignal): Promise<void> {
  await Promise.all(options.kinds.map((kind) => sweepOne(kind, options, signal)));
}

async function sweepOne(kind: Kind, options: SweeperOptions, signal: AbortSignal): Promise<void> {
  const { account, clock, log, resyncSeconds, random = Math.random } = options;
  const collection = account.collection(kind.remote);
  const intervalMs = resyncSeconds * 1000;
  // spread out, so that not every resource is listed in the same moment
  let wait = intervalMs * (0.9 + 0.2 * random());
  while (await slept(clock, wait, signal)) {
    wait = intervalMs * (0.9 + 0.2 * random());
    const fresh = collection.listedAt !== undefined && clock.now() - collection.listedAt < intervalMs / 2;
    if (fresh || !isUsed(kind, options.informers)) continue;
    try {
      await collection.listed(clock.now(), "sync");
    } catch (error) {
      if (!signal.aborted) log.warn({ error, resource: kind.remote.name }, "Resync failed");
    }
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

const isUsed = ({ kind }: Kind, informers: Informers): boolean =>
  informers
    .get(kind)
    ?.store.list()
    .some(({ status }) => status?.id !== undefined) ?? false;
