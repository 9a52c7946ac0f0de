import { isForbidden } from "../../gateway/errors.ts";
import type { Remote } from "../../gateway/resource.ts";
import { isDeleting, type ManagedObject, type Status } from "../../objects/object.ts";
import { answerFieldsOf } from "../../schema/common.ts";
import type { Kind } from "../../schema/define.ts";
import { toStatus } from "../../schema/wire/answer.ts";
import { referencedValues, valuesReferencing } from "../../schema/wire/uses.ts";
import { objectsInAccount, type ReconcileContext, remotesOf, requestOptions } from "../context.ts";

/** Lists that are not older than this are searched without listing again. */
const RECENT_MS = 60_000;

/**
 * The id of a remote that uses the remote with this id and has no object, so that the operator will never delete it.
 * Costs a list of each kind that can refer to this reconcile's kind: call it only after the service refused a deletion.
 */
export async function unmanagedUser(context: ReconcileContext, id: string): Promise<string | undefined> {
  const { cluster, account, clock, lane, object } = context;
  for (const kind of cluster.kindsReferringTo(context.kind)) {
    const remotes = account.remotes(kind);
    await remotes.listed(clock.now() - RECENT_MS, lane);
    const candidates = remotes.allCached().filter((remote) => remote.id !== id && uses(context, kind, remote, id));
    const unmanaged = candidates.filter((remote) => cluster.othersWithRemoteID(kind, remote.id, object).length === 0);
    for (const candidate of unmanaged) {
      const current = await remotes.read(candidate.id, requestOptions(context));
      if (current && uses(context, kind, current, id)) return current.id;
    }
  }
  return undefined;
}

/**
 * Objects that are not being deleted and whose remotes use a remote with one of these ids, as far as known from lists and
 * answers, whatever their specs say. Costs one list of each kind in the life of a process.
 */
export async function usersOf(context: ReconcileContext, ids: readonly string[]): Promise<ManagedObject[]> {
  const { cluster, kind, account, lane } = context;
  const users: ManagedObject[] = [];
  for (const other of cluster.kindsReferringTo(kind)) {
    const staying = objectsInAccount(context, other).filter((one) => !isDeleting(one));
    if (staying.length === 0) continue;
    const remotes = account.remotes(other);
    // An API key that may delete this kind may be forbidden to list another.
    await remotes.listed(0, lane).catch(ignoreIf(isForbidden));
    const remoteOf = ({ status }: ManagedObject) => remotes.cached(status?.id ?? "");
    users.push(...staying.filter((one) => ids.some((id) => uses(context, other, remoteOf(one), id))));
  }
  return users;
}

const ignoreIf = (isHarmless: (error: unknown) => boolean) => (error: unknown) => {
  if (!isHarmless(error)) throw error;
};

/**
 * Whether a remote of the kind `user` refers to the remote with this id, by the id or by another value of its status.
 */
export function uses(context: ReconcileContext, user: Kind, remote: Remote | undefined, id: string): boolean {
  if (remote === undefined) return false;
  const used = referencedValues(user.spec, remote);
  return statusesOf(context, id).some((status) =>
    valuesReferencing(user.spec, { kind: context.kind.kind, status }).some((value) => used.has(value)),
  );
}

/** What references to a remote may send: its fields as last known from the account, and those in the status. */
function statusesOf(context: ReconcileContext, id: string): Status[] {
  const { kind, object } = context;
  const remote = remotesOf(context).cached(id);
  const answered = remote ? [toStatus(answerFieldsOf(kind), remote) as Status] : [];
  const written = object.status?.id === id ? [object.status] : [];
  return [{ id }, ...answered, ...written];
}
