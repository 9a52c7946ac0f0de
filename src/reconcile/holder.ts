import type { Row } from "./inventory.ts";
import { type Pass, sending } from "./pass.ts";

/** How old the lists may be in which a holder is sought. */
const RECENT_MS = 60_000;

/**
 * The id of something in the account that uses a remote of this pass's kind, and that no object stands for: nothing
 * here will ever delete it. Costs a list of each kind that can use one, so it is asked only after a refusal.
 */
export async function lastingHolder(pass: Pass, id: string): Promise<string | undefined> {
  const { cluster, account, clock, lane, object } = pass;
  for (const kind of cluster.kindsReferringTo(pass.kind)) {
    const remotes = account.remotes(kind);
    const rows = await remotes.listed(clock.now() - RECENT_MS, lane);
    const others = rows.filter((row) => row.id !== id && uses(row, id));
    const holders = others.filter((row) => cluster.othersWithID(kind, row.id, object).length === 0);
    for (const holder of holders) {
      const now = await remotes.find(holder.id, sending(pass), true);
      if (now && uses(now, id)) return now.id;
    }
  }
  return undefined;
}

/** Whether an id stands anywhere in a remote. */
export const uses = (row: Row, id: string): boolean => JSON.stringify(row).includes(`"${id}"`);
