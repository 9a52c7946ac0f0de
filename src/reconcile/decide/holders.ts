import { heldByOther, notReleased } from "../../objects/errors/ownership.ts";
import { isNamedBySpec, setsNoModule } from "../../objects/identity.ts";
import {
  isDeleting,
  isObserveOnly,
  isObserver,
  isOlder,
  isPaused,
  type ManagedObject,
  nameOf,
  releasedTo,
  retiringIDs,
} from "../../objects/object.ts";
import { isMarkOf, ownerMarkOf } from "../../objects/ownership.ts";
import type { Blocked } from "../../objects/reconcile-error.ts";
import type { Kind } from "../../schema/define.ts";
import { type ReconcileContext, remotesOf, requestOptions } from "../context.ts";
import { handoverSource, isHandover } from "./handover.ts";
import { readMark } from "./unlisted-marks.ts";

// Several objects may name one remote, also in different namespaces. Only one holds it and changes it: the one that the
// owner mark names or, without a mark, the one whose status has the id. Among objects that never had the remote, the
// oldest holds it. So nobody can take a remote from an object by creating another object.

/** The error when another object holds the remote, or may take it before this one. */
export async function earlierHolder(context: ReconcileContext, id: string): Promise<Blocked | undefined> {
  const { kind, object } = context;
  if (isObserveOnly(object)) return undefined;
  const holding = await otherHolder(context, id);
  const isNext = holds(kind, object, id) || handoverSource(context, id) !== undefined;
  const other = holding ?? (isNext ? undefined : await earlierTaker(context, id));
  return other && conflictWith(context, other, id);
}

/** The error when another object holds the remote. */
export async function holdingOther(context: ReconcileContext, id: string): Promise<Blocked | undefined> {
  const other = await otherHolder(context, id);
  return other && conflictWith(context, other, id);
}

function conflictWith(context: ReconcileContext, other: ManagedObject, id: string): Blocked {
  const held = { id, kind: context.kind.kind, holder: nameOf(other) };
  const isAsked = context.object.spec.adopt?.from === held.holder;
  return isAsked ? notReleased({ ...held, ...whyNotReleased(context, other) }) : heldByOther(held);
}

/** When the spec names the object that has the remote, but that object does not hand it over yet. */
function whyNotReleased({ object, cluster }: ReconcileContext, other: ManagedObject) {
  const name = nameOf(object);
  if (!cluster.accounts.isSameAccount(object, other)) return { why: "otherAccount", name } as const;
  return { why: releasedTo(other) === name ? "replacing" : "unasked", name } as const;
}

/** The other object that holds the remote. Undefined: this object holds it, or no object does. */
export async function otherHolder(context: ReconcileContext, id: string): Promise<ManagedObject | undefined> {
  const { kind, object, cluster } = context;
  const [first] = othersHolding(context, id);
  // When the owner has been deleted, its remote belongs to the object that still exists.
  if (!first || cluster.isUnfinalized(object)) return first;
  await seeMark(context, id);
  // Objects may have changed while the mark was read.
  const holding = othersHolding(context, id);
  const isHolding = holds(kind, object, id) && !holding.some((other) => isHandover(context, object, other, id));
  return otherThan(object, firstOf(context, id, isHolding ? [object, ...holding] : holding));
}

/** A process that has just started has seen nothing of the remote yet. */
async function seeMark(context: ReconcileContext, id: string): Promise<void> {
  await remotesOf(context).listed(0, requestOptions(context));
  await readMark(context, id);
}

/** The other objects that have the remote and do not give it to this one. */
function othersHolding(context: ReconcileContext, id: string): ManagedObject[] {
  const { kind, object, cluster } = context;
  const others = cluster.othersWithRemoteID(kind, id, object).filter((other) => holds(kind, other, id));
  return others.filter((other) => !isHandover(context, other, object, id));
}

/** An older object that asks for the remote. Neither it nor the object of this reconcile ever had the remote. */
async function earlierTaker(context: ReconcileContext, id: string): Promise<ManagedObject | undefined> {
  if (othersTaking(context, id).length === 0) return undefined;
  await seeMark(context, id);
  return otherThan(context.object, firstOf(context, id, [context.object, ...othersTaking(context, id)]));
}

const othersTaking = (context: ReconcileContext, id: string): ManagedObject[] =>
  context.cluster.othersSpecifying(context.kind, id, context.object).filter((other) => mayTake(context, other));

const otherThan = (object: ManagedObject, first: ManagedObject | undefined): ManagedObject | undefined =>
  first?.metadata.uid === object.metadata.uid ? undefined : first;

/** Whether the object has the remote. An object that only observes it, or has set none of its modules, does not. */
export const holds = (kind: Kind, object: ManagedObject, id: string): boolean =>
  !isObserver(object) &&
  !setsNoModule(kind, { ...object, spec: {} }) &&
  (object.status?.id === id || retiringIDs(object.status).includes(id));

/**
 * Whether the object may take the remote. Not if it is paused, belongs to another account, or has no right to adopt.
 */
const mayTake = ({ kind, object, cluster }: ReconcileContext, other: ManagedObject): boolean =>
  !isDeleting(other) &&
  !isPaused(other) &&
  releasedTo(other) === undefined &&
  !isObserveOnly(other) &&
  !setsNoModule(kind, other) &&
  cluster.accounts.isSameAccount(object, other) &&
  (isNamedBySpec(kind) || cluster.accounts.mayAdopt(other));

function firstOf(context: ReconcileContext, id: string, objects: readonly ManagedObject[]): ManagedObject | undefined {
  const mark = ownerMarkOf(remotesOf(context).cached(id) ?? {});
  const { owner } = context;
  const marked = objects.find(({ metadata: { namespace, name } }) => isMarkOf(mark, { ...owner, namespace, name }));
  // The statuses of the other objects may be copies of this one's.
  const recorded = objects.filter(({ metadata: { namespace, name }, status }) =>
    isMarkOf(status?.owner, { ...owner, namespace, name }),
  );
  return marked ?? (recorded.length > 0 ? recorded : objects).toSorted((a, b) => (isOlder(a, b) ? -1 : 1))[0];
}
