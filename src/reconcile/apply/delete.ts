import { switchProblem } from "../../objects/annotations.ts";
import { createInterrupted } from "../../objects/errors/change.ts";
import { foreignFinalizers, keyUsed, leftBehind } from "../../objects/errors/deletion.ts";
import { annotationUnclear } from "../../objects/errors/kubernetes.ts";
import { takeoverAwaited } from "../../objects/errors/ownership.ts";
import { sentence } from "../../objects/errors/sentence.ts";
import { isNamedBySpec } from "../../objects/identity.ts";
import { openCreateOf } from "../../objects/intent.ts";
import { hasFinalizer, isOrphan, isUninstalling, type ManagedObject, releasedTo } from "../../objects/object.ts";
import { isRetainedByPolicy, leavesItsRemote } from "../../objects/origin.ts";
import { Blocked, isReconcileError, type ReconcileError } from "../../objects/reconcile-error.ts";
import { annotations } from "../../schema/contract.ts";
import { type Kind, listOf } from "../../schema/define.ts";
import { withArticle } from "../../schema/nouns.ts";
import {
  accountOf,
  epochMs,
  forgetOrigin,
  msUntilSettled,
  pendingCreateOf,
  type ReconcileContext,
  readRemote,
  refuseUnsettled,
  remotesOf,
  retire,
  retiringOf,
} from "../context.ts";
import { isHandoverPending, takerOf } from "../decide/handover.ts";
import { keepRecords } from "../dns/withdraw.ts";
import { hasOutput, hasRecords, isOfModules } from "../features.ts";
import { findRemote } from "../find/find.ts";
import { findInterruptedCreate, findSuccessor } from "../find/ways/by-create.ts";
import { isOfUnread } from "../unseen.ts";
import { namesOf, usersIn, usersThatStay } from "../use/in-use.ts";
import { recordAllModulesLeft, recordLeftModules } from "../use/left-modules.ts";
import { recordLostToken } from "../use/token-records.ts";
import type { User } from "../use/users.ts";
import { deleteRemote } from "./delete-remote.ts";
import { releaseModules } from "./modules/release-modules.ts";
import { keepOutputSecret } from "./output-secret.ts";
import { forgetRetired, leaveToOthers } from "./replace.ts";

/**
 * How long the deletion of a namespace waits for a remote that the service calls in use although no user of it can be
 * seen.
 */
const UNSEEN_USER_MS = 120_000;

/**
 * Seconds until the next attempt when the remote of a deleted object stays in the account. What keeps it may have ended
 * by then.
 */
const LEFT_BEHIND_SECONDS = 30;

/**
 * Seconds until the next look when only finalizers of other controllers are left. The watch usually reports their
 * removal earlier.
 */
const FOREIGN_FINALIZERS_SECONDS = 1800;

/**
 * Deletes the remote of an object that is being deleted, or leaves it. After that the finalizer may be taken off. Reads
 * no reference and no Secret of the spec, since those may be gone. Throws Waiting or Blocked while that cannot be done
 * yet. Without our finalizer, it only waits for those of others.
 */
export async function deleteObject(context: ReconcileContext): Promise<void> {
  const { object, cluster } = context;
  if (!hasFinalizer(object)) return refuseWhileOthersHold(object);
  refuseUnclear(context);
  await deleteReplacedFirst(context);
  await refuseBeforeTakeover(context);
  if (await isRemoteKept(context)) {
    if (!leavesItsRemote(object) && cluster.accounts.isAccountOrphaned(object)) reportAccountOrphaned(context);
    prepareRetention(context);
    if (hasOutput(context)) await keepOutputSecret(context);
    if (hasRecords(context)) await keepRecords(context, takerOf(context));
    if (isOfModules(context)) await recordAllModulesLeft(context);
  } else {
    await deleteRemotes(context);
  }
}

/** Throws Blocked while nobody can tell whether the remote is to stay. When the object is gone, the remote stays. */
function refuseUnclear({ object, cluster }: ReconcileContext): void {
  const problem = switchProblem(object, "orphan");
  if (problem === undefined) return;
  if (!cluster.isUnfinalized(object)) throw annotationUnclear({ problem });
  const note = `Left ${object.status?.id ?? "what may be there"} in the account: the annotation ${annotations.orphan} may mean yes, and the object is gone`;
  cluster.emit(object, { type: "Warning", reason: "InvalidAnnotation", action: "Delete", note });
}

/**
 * Remotes that were replaced go to no other object, and the other object takes nothing while they are there. So they are
 * deleted before the handover. So is the remote that an interrupted replacement may have made.
 */
async function deleteReplacedFirst(context: ReconcileContext): Promise<void> {
  const { object, cluster, kind } = context;
  const isReleased =
    releasedTo(object) !== undefined && !isOrphan(object) && !cluster.accounts.isAccountOrphaned(object);
  if (!isReleased || (await cluster.reading.isKindDeleting(kind))) return;
  await retireUnrecorded(context);
  await deleteEach(context, undefined, retiringOf(context));
}

/** If an interrupted replacement made a second remote, retires that one: the object hands over the one in its status. */
async function retireUnrecorded(context: ReconcileContext): Promise<void> {
  const { object, kind } = context;
  const { id } = object.status ?? {};
  const create = pendingCreateOf(context);
  if (!kind.replacement || id === undefined || create === undefined) return;
  const created = await findInterruptedCreate(context, create);
  // The search has noted the origin of what it found.
  forgetOrigin(context);
  if (created && (await readRemote(context, id))) retire(context, created.id, "Created");
}

/**
 * The object's consent to the handover ends with the object, so the deletion waits until the other object has taken the
 * remote.
 */
async function refuseBeforeTakeover(context: ReconcileContext): Promise<void> {
  if (!isHandoverPending(context) || (await reasonNotToWait(context)) !== undefined) return;
  const { kind, object } = context;
  throw takeoverAwaited({ kind: kind.kind, to: releasedTo(object) ?? "", id: object.status?.id ?? "" });
}

function reportAccountOrphaned({ cluster, object, kind }: ReconcileContext): void {
  const note = `Left ${nameOfRemote(object, kind)} in the account: its GatewayAccount has the annotation orphan, and its key does not work`;
  cluster.emit(object, { type: "Warning", reason: "Unauthorized", action: "Delete", note });
}

/** Without an id in the status, nobody knows which remote the object has, if any. */
const nameOfRemote = ({ status }: ManagedObject, kind: Kind): string =>
  status?.id ?? `what may be there of this ${kind.kind}`;

/** Finalizers that Kubernetes' garbage collector sets and removes by itself. */
const GARBAGE_COLLECTOR_FINALIZERS: readonly string[] = ["foregroundDeletion", "orphan"];

/** Throws Waiting when the operator has finished with this object but finalizers of other controllers still keep it. */
function refuseWhileOthersHold({ metadata: { finalizers = [] } }: ManagedObject): void {
  const others = finalizers.filter((name) => !GARBAGE_COLLECTOR_FINALIZERS.includes(name));
  if (others.length === 0) return;
  throw foreignFinalizers({ finalizers: others }, { afterSeconds: FOREIGN_FINALIZERS_SECONDS });
}

/** When a CRD is deleted, Kubernetes deletes all its objects, which may be a mistake. So then no remote is deleted. */
const isRemoteKept = async ({ object, cluster, kind }: ReconcileContext): Promise<boolean> =>
  leavesItsRemote(object) || cluster.accounts.isAccountOrphaned(object) || (await cluster.reading.isKindDeleting(kind));

/**
 * The next object of this name finds the remote that stays in a list, so no list from before the create may count. Throws
 * Waiting while an interrupted create may still be carried out, unless a person gives the remote up. Sends no request,
 * because the account may no longer exist.
 */
function prepareRetention(context: ReconcileContext): void {
  const { object, kind } = context;
  if (openCreateOf(object) === undefined || isNamedBySpec(kind)) return;
  if (leavesItsRemote(object) && !isOrphan(object) && pendingCreateOf(context) !== undefined)
    refuseUnsettled(msUntilSettled(context), createInterrupted, {});
  accountOf(context)?.collectionOf(kind)?.invalidateList();
}

async function deleteRemotes(context: ReconcileContext): Promise<void> {
  if (isOfModules(context)) {
    const { left, seen } = await releaseModules(context);
    return recordLeftModules(context, left, seen);
  }
  const id = await findIDToDelete(context);
  const { object, state } = context;
  if (id !== undefined) {
    state.remote ??= { id };
    const remote = remotesOf(context).cached(id);
    if (remote && hasOutput(context)) recordLostToken(context, remote);
  }
  // The search may have found an adopted remote in place of one that no longer exists.
  const own = id === undefined || isRetainedByPolicy(object, state.origin) ? [] : [id];
  await deleteEach(context, own[0], [...own, ...retiringOf(context)]);
}

/** `own`: the remote that the object has. The others are those that it has replaced. */
async function deleteEach(context: ReconcileContext, own: string | undefined, ids: readonly string[]): Promise<void> {
  const stays: ReconcileError[] = [];
  for (const id of ids) {
    const outcome = await deleteOrLeave(context, id, id === own ? "ended" : "replaced");
    if (isReconcileError(outcome)) stays.push(outcome);
    else if (id !== own) forgetRetired(context, id);
    if (outcome === "deleted") tellUnseenUsers(context, id);
  }
  if (stays[0]) throw stays[0];
}

/**
 * The remote will stay in the account. The command `uninstall` waits for this error, prints it, and then sets the
 * annotation orphan. Once the object is gone, nobody could say whether its remote was deleted.
 */
const staysBehind = (what: string, why: string): ReconcileError =>
  leftBehind({ what, why }, { afterSeconds: LEFT_BEHIND_SECONDS });

/**
 * Warns of users that no list shows, such as routes. They are read only if an object names them or has left modules on
 * them.
 */
function tellUnseenUsers({ cluster, kind, object }: ReconcileContext, id: string): void {
  const unlisted = cluster.kindsReferringTo(kind).filter((one) => !listOf(one));
  for (const { resource } of unlisted) {
    const note = `Look for any ${resource.title} that no object names and that used ${id}, which is deleted: no list shows it`;
    cluster.emit(object, { type: "Normal", reason: "Deleting", action: "Delete", note });
  }
}

/** Why the deletion of an object must not wait; the end of an event. Undefined: it may wait. */
async function reasonNotToWait({ cluster, object }: ReconcileContext): Promise<string | undefined> {
  if (cluster.isUnfinalized(object)) return "the object is gone";
  return (await cluster.reading.isNamespaceDeleting(object.metadata.namespace)) ? "the namespace goes away" : undefined;
}

/**
 * Where the deletion must not wait, a remote with the mark of another owner is left to that owner, and an event says
 * so.
 */
async function leaveToOwner(context: ReconcileContext, error: unknown): Promise<undefined> {
  const { object, cluster, kind } = context;
  if (!isReconcileError(error) || error.reason !== "OwnershipConflict" || isOfUnread(error)) throw error;
  const goes = await reasonNotToWait(context);
  const [what, why] = [nameOfRemote(object, kind), "the owner in its metadata is another"];
  if (goes === undefined) throw isUninstalling(object) ? staysBehind(what, why) : error;
  const note = `Left ${what} in the account: ${why}, and ${goes}`;
  cluster.emit(object, { type: "Warning", reason: error.reason, action: "Delete", note });
}

/**
 * A remote that cannot be deleted blocks its object. In a namespace that is being deleted nothing will change that, so
 * the remote is left in the account with an event. Returns the error to throw in the end while the operator is being
 * uninstalled.
 */
async function deleteOrLeave(
  context: ReconcileContext,
  id: string,
  way: "ended" | "replaced",
): Promise<"deleted" | "left" | ReconcileError> {
  try {
    const refusal = await deleteRemote(context, id, way);
    if (!refusal) return "deleted";
    if (way === "ended" && refusal.check === "markedByNobodyElse") await leaveToOwner(context, refusal.error);
    else if (!leaveToOthers(context, id, refusal)) throw refusal.error;
    return "left";
  } catch (error) {
    const why = isReconcileError(error) ? await reasonToLeave(context, error) : undefined;
    if (why === undefined) throw error;
    const goes = await reasonNotToWait(context);
    if (goes === undefined) return staysBehind(id, why);
    const note = `Left ${id} in the account: ${why}, and ${goes}`;
    const { reason } = error as ReconcileError;
    context.cluster.emit(context.object, { type: "Warning", reason, action: "Delete", note });
    return "left";
  }
}

/**
 * Why a remote stays in the account when its namespace is deleted or the operator is uninstalled. Undefined: it can be
 * deleted, or that is not decided yet.
 */
async function reasonToLeave(context: ReconcileContext, error: ReconcileError): Promise<string | undefined> {
  const { object, kind } = context;
  const isRefused = error.reason === "InUse" || error.reason === "DeleteUnsupported" || error instanceof Blocked;
  if (!isRefused && !isUsedElsewhere(error, object)) return undefined;
  if (!isUninstalling(object) && (await reasonNotToWait(context)) === undefined) return undefined;
  const users = usersIn(error);
  if (users) return lastingUse(context, users);
  const key = keyUsed.valuesOf(error);
  if (key) return `${key.users} uses it`;
  if (error.reason === "DeleteUnsupported") return `the service cannot delete ${withArticle(kind.resource.title)}`;
  if (error.reason === "Forbidden") return "the API key may not read what uses it";
  if (waitedMs(context) <= UNSEEN_USER_MS) return undefined;
  return isOfUnread(error)
    ? "not all objects that may use it can be read"
    : `the service refuses to delete it (${error.message})`;
}

const isUsedElsewhere = (error: ReconcileError, { metadata }: ManagedObject): boolean =>
  usersIn(error)?.some(({ object }) => object?.metadata.namespace !== metadata.namespace) === true;

async function lastingUse(context: ReconcileContext, users: readonly User[]): Promise<string | undefined> {
  const lasting = await usersThatStay(context, users);
  if (lasting.length === 0) return undefined;
  return sentence("", namesOf(lasting, context.object), lasting.length > 1 ? " use it and stay" : " uses it and stays");
}

const waitedMs = (context: ReconcileContext): number =>
  epochMs(context) - Date.parse(context.object.metadata.deletionTimestamp ?? "");

/** The id in the status. Where the status may lack it, the id of the remote that is found for the object. */
async function findIDToDelete(context: ReconcileContext): Promise<string | undefined> {
  const { id } = context.object.status ?? {};
  const create = openCreateOf(context.object);
  const isSought = id !== undefined && create !== undefined && !isNamedBySpec(context.kind);
  if (isSought) return (await findSuccessor(context, create, id))?.id ?? id;
  if (create !== undefined) return (await findRemote(context))?.id;
  // Without its create, nobody can tell what this object made from what an earlier one of its name left on purpose.
  return id;
}
