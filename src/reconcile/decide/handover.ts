import { isNamedBySpec } from "../../objects/identity.ts";
import {
  hasOwnID,
  isDeleting,
  isObserveOnly,
  isObserver,
  isReleased,
  type ManagedObject,
  nameOf,
  releasedTo,
} from "../../objects/object.ts";
import { withArticle } from "../../schema/nouns.ts";
import type { ReconcileContext } from "../context.ts";

// A remote moves from one object to another without a change in the account. The object that has it names the other one
// in the annotation release-to, and the other one names it in `spec.adopt.from`. From then on the first object writes
// nothing to the remote.

/**
 * Whether `from` hands the remote over to `to`, which asks for it or has it already. `from` still has the id in its
 * status, so that objects that refer to it keep working until it is deleted.
 */
export const isHandover = (
  { cluster }: Pick<ReconcileContext, "cluster">,
  from: ManagedObject,
  to: ManagedObject,
  id: string,
): boolean =>
  from.status?.id === id &&
  isReleased(from) &&
  releasedTo(from) === nameOf(to) &&
  (hasOwnID(to, id) || (hasOwnID(from, id) && asksFor(to, from, id))) &&
  cluster.accounts.isSameAccount(from, to);

const asksFor = ({ spec: { adopt } }: ManagedObject, from: ManagedObject, id: string): boolean =>
  adopt?.id === id && adopt.from === nameOf(from);

/** The object that hands this remote over to the object of this reconcile. */
export function handoverSource(context: ReconcileContext, id: string): ManagedObject | undefined {
  const { cluster, kind, object } = context;
  return cluster.othersWithRemoteID(kind, id, object).find((other) => isHandover(context, other, object, id));
}

/** Whether the annotation release-to has the name of the object that bears it. */
const isReleasedToItself = ({ object }: ReconcileContext): boolean => releasedTo(object) === nameOf(object);

/**
 * The object to which this one is released, if it asks for the remote or has it. Undefined for an object of another
 * cluster, and for itself.
 */
function handoverTarget(context: ReconcileContext): ManagedObject | undefined {
  const { cluster, kind, object } = context;
  const [namespace = "", name = "", ...more] = releasedTo(object)?.split("/") ?? [];
  if (more.length > 0 || isReleasedToItself(context)) return undefined;
  const target = cluster.get(kind.kind, namespace, name);
  const id = object.status?.id ?? "";
  return target && (hasOwnID(target, id) || asksFor(target, object, id)) ? target : undefined;
}

/** The object to which this one is released, if it has taken the remote. */
export function takerOf(context: ReconcileContext): ManagedObject | undefined {
  const { id } = context.object.status ?? {};
  const target = handoverTarget(context);
  return target !== undefined && id !== undefined && hasOwnID(target, id) ? target : undefined;
}

export const isHandedOver = (context: ReconcileContext): boolean => takerOf(context) !== undefined;

/** Whether the object to which this one is released still has to take the remote. */
export function isHandoverPending(context: ReconcileContext): boolean {
  const target = handoverTarget(context);
  if (target === undefined || isDeleting(target) || isObserveOnly(target)) return false;
  return !isHandedOver(context) && !hasRemote(target);
}

/** Whether an object has a remote of its own. It then takes no other: it may have taken one and replaced it since. */
const hasRemote = (object: ManagedObject): boolean => object.status?.id !== undefined && !isObserver(object);

/** What a person should do with an object whose remote is released. One line. */
export function releaseMessage(context: ReconcileContext): string {
  const { kind, object } = context;
  const id = object.status?.id;
  const to = `${kind.kind} ${releasedTo(object)}`;
  if (isReleasedToItself(context)) return `Remove the annotation release-to, or name another object: ${to} is this one`;
  if (isNamedBySpec(kind))
    return `Remove the annotation release-to, create ${to} beside this object, then delete this object: ${withArticle(kind.kind)} does not adopt`;
  if (isHandedOver(context)) return `Delete this object: ${to} has ${id} now`;
  const target = handoverTarget(context);
  if (target && hasRemote(target))
    return `Delete this object, or remove the annotation release-to to go on: ${to} has ${target.status?.id}`;
  if (id === undefined)
    return `Remove the annotation release-to to go on: it is not known which ${kind.resource.title} this object has`;
  return `Give ${to} the spec adopt: {id: ${id}, from: ${nameOf(object)}}, or remove the annotation release-to to go on`;
}
