import { isForbidden } from "../../gateway/errors.ts";
import type { Remote } from "../../gateway/resource.ts";
import { isDeleting, type ManagedObject } from "../../objects/object.ts";
import { objectsInAccount, type ReconcileContext, requestOptions } from "../context.ts";

/** How old the lists may be in which a holder is sought. */
const RECENT_MS = 60_000;

/**
 * The id of something in the account that uses a remote of this reconcile's kind, and that no object stands for: nothing
 * here will ever delete it. Costs a list of each kind that can use one, so it is asked only after a refusal.
 */
export async function unmanagedUser(context: ReconcileContext, id: string): Promise<string | undefined> {
  const { cluster, account, clock, lane, object } = context;
  for (const kind of cluster.kindsReferringTo(context.kind)) {
    const remotes = account.remotes(kind);
    await remotes.listed(clock.now() - RECENT_MS, lane);
    const candidates = remotes.rows.filter((remote) => remote.id !== id && containsID(remote, id));
    const unmanaged = candidates.filter((remote) => cluster.othersWithRemoteID(kind, remote.id, object).length === 0);
    for (const candidate of unmanaged) {
      const current = await remotes.find(candidate.id, requestOptions(context), true);
      if (current && containsID(current, id)) return current.id;
    }
  }
  return undefined;
}

/**
 * Objects that stay, and whose remotes have one of these ids in them, as far as the account was last seen: a spec may
 * have let go of something that its remote still needs. Takes one list of each kind in the life of a process.
 */
export async function usersOf(context: ReconcileContext, ids: readonly string[]): Promise<ManagedObject[]> {
  const { cluster, kind, account, lane } = context;
  const users: ManagedObject[] = [];
  for (const other of cluster.kindsReferringTo(kind)) {
    const staying = objectsInAccount(context, other).filter((one) => !isDeleting(one));
    if (staying.length === 0) continue;
    const remotes = account.remotes(other);
    // whoever may delete one kind may not be allowed to see another
    await remotes.listed(0, lane).catch(ignoreIf(isForbidden));
    const remoteOf = ({ status }: ManagedObject) => remotes.known(status?.id ?? "");
    users.push(...staying.filter((one) => ids.some((id) => containsID(remoteOf(one), id))));
  }
  return users;
}

const ignoreIf = (isHarmless: (error: unknown) => boolean) => (error: unknown) => {
  if (!isHarmless(error)) throw error;
};

/** Whether an id stands anywhere in a remote. */
export const containsID = (remote: Remote | undefined, id: string): boolean =>
  remote !== undefined && JSON.stringify(remote).includes(`"${id}"`);
