import type { Remote } from "../../gateway/resource.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { isObserveOnly } from "../../objects/object.ts";
import { ownerMark, ownerMarkOf } from "../../objects/ownership.ts";
import { Blocked } from "../../objects/reconcile-error.ts";
import { type ReconcileContext, remotesOf } from "../context.ts";

/** Two objects must not manage one remote: the older object keeps the remote that it has. */
export function refuseOtherHolder({ cluster, kind, object }: ReconcileContext, id: string): void {
  const [other] = cluster.othersWithRemoteID(kind, id, object);
  if (!other || (object.status?.id === id && isOlder(object, other))) return;
  const { namespace, name } = other.metadata;
  throw new Blocked(
    "OwnershipConflict",
    `Delete this object or ${kind.kind} ${namespace}/${name}: both stand for ${id}`,
  );
}

function isOlder(one: ManagedObject, other: ManagedObject): boolean {
  const age = ({ metadata }: ManagedObject) => `${metadata.creationTimestamp} ${metadata.uid}`;
  return age(one) <= age(other);
}

/** Whether a remote carries the owner mark of another object or cluster. */
export function hasForeignMark({ owner }: ReconcileContext, remote: Remote): boolean {
  const mark = ownerMarkOf(remote);
  return mark !== undefined && mark !== ownerMark(owner);
}

/** Whether a remote that is known from lists and answers carries the owner mark of another object or cluster. */
export function isKnownForeign(context: ReconcileContext, id: string): boolean {
  const remote = remotesOf(context).cached(id);
  return remote !== undefined && hasForeignMark(context, remote);
}

/** Never change what another cluster or object has marked as its own. */
export function refuseForeignMark(context: ReconcileContext, remote: Remote): Remote {
  if (!hasForeignMark(context, remote) || isObserveOnly(context.object)) return remote;
  throw new Blocked(
    "OwnershipConflict",
    `Remove the owner from the metadata of ${remote.id} first: it belongs to ${ownerMarkOf(remote)}`,
  );
}

/** Whether no other object has this remote, or is about to have it. */
export const isUnclaimed = ({ account, cluster, kind, object }: ReconcileContext, { id }: Remote): boolean =>
  cluster.othersWithRemoteID(kind, id, object).length === 0 && !account.isClaimedByOther(id, object);

/** The oldest of several remotes that may be this object's. The others stay, and an event names them. */
export function oldestOf({ changes }: ReconcileContext, remotes: readonly Remote[]): Remote | undefined {
  const time = (remote: Remote) => Date.parse(String(remote["created_at"])) || 0;
  const [oldest, ...others] = remotes.toSorted((a, b) => time(a) - time(b));
  if (others.length > 0) changes.push({ type: "Duplicates", ids: others.map(({ id }) => id) });
  return oldest;
}

export const remoteMissing = ({ kind }: ReconcileContext, what: string, cause?: Error): Blocked =>
  new Blocked(
    "RemoteMissing",
    `Create the ${kind.resource.title} ${what} in the account, or delete this object: it is not there`,
    cause && { cause },
  );
