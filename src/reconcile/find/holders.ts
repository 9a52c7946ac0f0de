import { managedMembers } from "../../objects/identity.ts";
import { isDeleting, isObserveOnly, isPaused, type ManagedObject, retiringIDs } from "../../objects/object.ts";
import { isMarkOf, ownerMarkOf } from "../../objects/ownership.ts";
import { Blocked } from "../../objects/reconcile-error.ts";
import type { Kind } from "../../schema/define.ts";
import { type ReconcileContext, remotesOf } from "../context.ts";

// Several objects may name one remote, also in different namespaces. One of them holds it, and only this one changes it:
// the one that the owner mark of the remote names or, without such a mark, the one whose status has the id. Among
// objects that never had the remote, the oldest comes first. So nobody can stop the object of somebody else by creating
// another one.

/** Throws Blocked when another object holds the remote, or may take it before this one. */
export function refuseOtherHolder(context: ReconcileContext, id: string): void {
  const { kind, object } = context;
  if (isObserveOnly(object)) return;
  const other = otherHolder(context, id) ?? (holds(kind, object, id) ? undefined : earlierTaker(context, id));
  if (!other) return;
  const { namespace, name } = other.metadata;
  throw new Blocked("OwnershipConflict", `Delete this object, or ${kind.kind} ${namespace}/${name}, which has ${id}`);
}

/** The other object that holds the remote. Undefined: this object holds it, or no object does. */
export function otherHolder(context: ReconcileContext, id: string): ManagedObject | undefined {
  const { kind, object, cluster } = context;
  const holding = cluster.othersWithRemoteID(kind, id, object).filter((other) => holds(kind, other, id));
  // What one that has ended had is that of the living.
  if (holding.length === 0 || cluster.isUnfinalized(object)) return holding[0];
  return otherThan(object, firstOf(context, id, holds(kind, object, id) ? [object, ...holding] : holding));
}

/** An object that never had the remote, wants it, and is older than this one, which never had it either. */
function earlierTaker(context: ReconcileContext, id: string): ManagedObject | undefined {
  const { kind, object, cluster } = context;
  const wanting = cluster.othersWanting(kind, id, object).filter((other) => mayTake(context, other));
  return otherThan(object, firstOf(context, id, [object, ...wanting]));
}

const otherThan = (object: ManagedObject, first: ManagedObject | undefined): ManagedObject | undefined =>
  first?.metadata.uid === object.metadata.uid ? undefined : first;

/** Whether the object has the remote. One that only observes it, or has set none of its modules, does not. */
const holds = (kind: Kind, object: ManagedObject, id: string): boolean =>
  !isObserveOnly(object) &&
  !isEmpty(kind, { ...object, spec: {} }) &&
  (object.status?.id === id || retiringIDs(object.status).includes(id));

const isEmpty = (kind: Kind, object: ManagedObject): boolean =>
  kind.location.type === "modules" && managedMembers(kind, object).length === 0;

/** A paused object takes nothing, and an object of another account cannot. */
const mayTake = ({ kind, object, cluster }: ReconcileContext, other: ManagedObject): boolean =>
  !isDeleting(other) &&
  !isPaused(other) &&
  !isObserveOnly(other) &&
  !isEmpty(kind, other) &&
  cluster.shareAccount(object, other);

function firstOf(context: ReconcileContext, id: string, objects: readonly ManagedObject[]): ManagedObject | undefined {
  const mark = ownerMarkOf(remotesOf(context).cached(id) ?? {});
  const { owner } = context;
  const marked = objects.find(({ metadata: { namespace, name } }) => isMarkOf(mark, { ...owner, namespace, name }));
  const age = ({ metadata }: ManagedObject) => `${metadata.creationTimestamp} ${metadata.uid}`;
  return marked ?? objects.toSorted((a, b) => (age(a) < age(b) ? -1 : 1))[0];
}
