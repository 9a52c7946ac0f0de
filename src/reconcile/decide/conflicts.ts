import { isCreatable } from "../../account/remotes/remotes.ts";
import { GatewayError } from "../../gateway/errors.ts";
import type { Remote } from "../../gateway/resource.ts";
import {
  adoptionNotAllowed,
  markedByOther,
  markUnreadable,
  remoteMissing,
  statusCopied,
} from "../../objects/errors/ownership.ts";
import { openCreateOf } from "../../objects/intent.ts";
import { hasOwnID, isObserveOnly, isObserver, type ManagedObject, retiringIDs } from "../../objects/object.ts";
import { isMarkOf, isOfCluster, ownerMarkOf, ownerTextOf, parseMark } from "../../objects/ownership.ts";
import type { Blocked } from "../../objects/reconcile-error.ts";
import { type ReconcileContext, remotesOf, requestOptions, retiringOf } from "../context.ts";
import { isHandover } from "./handover.ts";

/**
 * Whether the owner mark of a remote no longer counts: the object that it names is in this cluster, and was deleted,
 * has another remote, or hands this one over to the object of this reconcile, or did so before. A mark of another cluster
 * always counts, because its object cannot be seen.
 */
function isVoid(context: ReconcileContext, mark: string, { id }: Remote): boolean {
  const { cluster, kind, owner } = context;
  const named = parseMark(mark);
  if (!named || !isOfCluster(mark, owner)) return false;
  if (isFormerMark(context, mark, id)) return true;
  const { namespace, name } = named;
  const object = cluster.get(kind.kind, namespace, name);
  if (!object) return cluster.hasEnded(kind, namespace, name);
  if (isHandover(context, object, context.object, id) || (isObserver(object) && hasOrReplaced(context, id)))
    return true;
  return (
    hasAnother(context, object, id) && !retiringIDs(object.status).includes(id) && openCreateOf(object) === undefined
  );
}

/**
 * Whether this object has taken the remote over although the mark could not be replaced. A copy of its status has no
 * power elsewhere.
 */
function isFormerMark(context: ReconcileContext, mark: string, id: string): boolean {
  const { status } = context.object;
  return status?.formerOwner === mark && isMarkOf(status.owner, context.owner) && hasOrReplaced(context, id);
}

const hasOrReplaced = (context: ReconcileContext, id: string): boolean =>
  hasOwnID(context.object, id) || (!isObserver(context.object) && retiringOf(context).includes(id));

/**
 * Whether the object has another remote than this one. A status that was restored may name one that is no longer in the
 * account. Then the object is about to find the one with its mark.
 */
function hasAnother(context: ReconcileContext, object: ManagedObject, id: string): boolean {
  const other = isObserver(object) ? undefined : object.status?.id;
  if (other === undefined || other === id) return false;
  return !context.cluster.accounts.isSameAccount(object, context.object) || !remotesOf(context).isMissing(other);
}

/**
 * Call it before the mark of a remote is judged that this object does not have. Another object here that is named by it
 * may have another remote, and a list shows whether that exists.
 */
export async function seeRemoteOfOwner(context: ReconcileContext, remote: Remote): Promise<void> {
  const mark = ownerMarkOf(remote);
  if (mark === undefined || !isOfCluster(mark, context.owner) || isMarkOf(mark, context.owner)) return;
  await remotesOf(context).listed(0, requestOptions(context));
}

/** Known remotes whose owner mark names an object of this namespace and name, in any cluster. */
export const markedForObject = (context: ReconcileContext): Remote[] => remotesOf(context).markedFor(nameOf(context));

const nameOf = ({ owner }: ReconcileContext): string => `${owner.namespace}/${owner.name}`;

/**
 * Call it before a search by mark that may prove that there is no remote. Throws when a row that cannot be read may be the
 * one that is meant: it shows that its remote exists. `isMeant` sees only the id and the mark of a row.
 */
export function refuseUnreadable(context: ReconcileContext, isMeant: (row: Remote) => boolean): void {
  const rows = remotesOf(context).unreadableMarkedFor(nameOf(context));
  const row = rows.find((one) => isMeant(one) && isHeldByNoOther(context, one));
  if (!row) return;
  const route = context.kind.resource.path;
  const problem = `the row of ${row.id} cannot be read, and its owner mark names an object of this name`;
  throw new GatewayError({ kind: "unreadable", method: "GET", route, problem });
}

/**
 * Whether a remote belongs to another object or cluster: by its owner mark or, without one, by the owner in the status.
 */
export function hasForeignMark(context: ReconcileContext, remote: Remote): boolean {
  const mark = ownerMarkOf(remote) ?? recordedOwner(context, remote.id);
  return mark !== undefined && !isMarkOf(mark, context.owner) && !isVoid(context, mark, remote);
}

/** The owner that the status records for this remote. It may be another object, since a backup can copy a status. */
function recordedOwner({ object: { status } }: ReconcileContext, id: string): string | undefined {
  return status?.id === id || retiringIDs(status).includes(id) ? status?.owner : undefined;
}

/** Whether a remote, as lists and answers have shown it, carries the owner mark of another object or cluster. */
export function isKnownForeign(context: ReconcileContext, id: string): boolean {
  const remote = remotesOf(context).cached(id);
  return remote !== undefined && hasForeignMark(context, remote);
}

/** The error when another cluster or object has marked the remote as its own: never change what they have. */
export function foreignMark(context: ReconcileContext, remote: Remote): Blocked | undefined {
  if (!hasForeignMark(context, remote) || isObserveOnly(context.object)) return undefined;
  const { id } = remote;
  const own = ownerMarkOf(remote);
  const owner = ownerTextOf(own ?? context.object.status?.owner ?? "");
  const named = parseMark(owner);
  const marked = { id, owner, cluster: isOfCluster(owner, context.owner) ? undefined : named?.cluster };
  if (own === undefined) return statusCopied(marked);
  return named ? markedByOther(marked) : markUnreadable({ id, mark: owner });
}

/**
 * The error when the namespace has no right to take over remotes of others. Only a takeover needs the right: an
 * object keeps what it has. Rights in Kubernetes end at the namespace, but the account does not.
 */
export function refusalToAdopt({ cluster, object }: ReconcileContext, what: string): Blocked | undefined {
  if (cluster.accounts.mayAdopt(object) || isObserveOnly(object)) return undefined;
  return adoptionNotAllowed({ namespace: object.metadata.namespace, what });
}

/** Whether no other object has this remote or is about to get it. Objects that only observe it do not count. */
export const isHeldByNoOther = ({ cluster, kind, object }: ReconcileContext, { id }: Remote): boolean =>
  cluster.othersWithRemoteID(kind, id, object).every(isObserver);

/**
 * The newest of several remotes that may be this object's: it has replaced the others. They stay, and an event names them
 * and `others`.
 */
export function newestOf(
  { changes }: ReconcileContext,
  remotes: readonly Remote[],
  others: readonly Remote[] = [],
): Remote | undefined {
  const [newest, ...rest] = remotes.toSorted((a, b) => (createdMs(b) || 0) - (createdMs(a) || 0));
  const ids = [...rest, ...others].map(({ id }) => id);
  if (newest && ids.length > 0) changes.push({ type: "Duplicates", ids });
  return newest;
}

/** When it was created, by the service, in milliseconds since the epoch. NaN if it does not say. */
export const createdMs = (remote: Remote | undefined): number => Date.parse(String(remote?.["created_at"]));

/** The operator may not, or cannot, create the remote. `what`: its id, or its name. */
export function missingRemote(context: ReconcileContext, what: string, cause?: Error): Blocked {
  const { kind, object } = context;
  const mayCreate = !isObserveOnly(object) && isCreatable(remotesOf(context));
  return remoteMissing({ title: kind.resource.title, what, mayCreate }, { cause });
}
