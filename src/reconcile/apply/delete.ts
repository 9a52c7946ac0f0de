import { openIntentOf } from "../../objects/intent.ts";
import { isDeleting, isObserveOnly, isOrphan, type ManagedObject } from "../../objects/object.ts";
import { isRetained } from "../../objects/origin.ts";
import { isReconcileError, type ReconcileError, Waiting } from "../../objects/reconcile-error.ts";
import { annotations, FINALIZER } from "../../schema/contract.ts";
import { now, type ReconcileContext, remotesOf, retiringOf } from "../context.ts";
import { refuseUnsettled } from "../find/by-intent.ts";
import { findByOwnerMark } from "../find/by-owner-mark.ts";
import { isKnownForeign, refuseForeignMark } from "../find/conflicts.ts";
import { findRemote } from "../find/find.ts";
import { staysForOthers } from "../find/sharing.ts";
import { deleteRemote, deleteUnsupported } from "./delete-remote.ts";
import { releaseModules } from "./release-modules.ts";
import { unmanagedUser, usersOf } from "./users.ts";

/** Referrers that are being deleted at the same time go first, but are not waited for any longer than this. */
const REFERRERS_FIRST_MS = 60_000;

/** When only finalizers of others are left. The watch reports their removal earlier than this. */
const FOREIGN_FINALIZERS_SECONDS = 1800;

/**
 * Deletes the remote of an object that is being deleted, and then takes the finalizer off. Reads no reference and no
 * Secret of the spec, since those may be gone. Throws Waiting while something else has to be deleted first.
 */
export async function deleteObject(context: ReconcileContext): Promise<void> {
  const { object, cluster, kind } = context;
  if (!object.metadata.finalizers?.includes(FINALIZER)) return waitForOthers(object);
  if (await isRemoteKept(context)) prepareRetention(context);
  else await deleteRemotes(context);
  await cluster.removeFinalizer(kind, context.object);
}

/** Finalizers that Kubernetes' garbage collector sets and removes by itself. */
const GARBAGE_COLLECTOR_FINALIZERS: readonly string[] = ["foregroundDeletion", "orphan"];

/** The operator has finished with this object, but finalizers of others still keep it. */
function waitForOthers({ metadata: { finalizers = [] } }: ManagedObject): void {
  const others = finalizers.filter((name) => !GARBAGE_COLLECTOR_FINALIZERS.includes(name));
  if (others.length === 0) return;
  throw new Waiting(
    "Deleting",
    `See to ${others.join(", ")}: finalizers of others hold this object, and nothing else`,
    {
      afterSeconds: FOREIGN_FINALIZERS_SECONDS,
    },
  );
}

/** Deleting a CRD deletes all its objects, which nobody may have meant. So then no remote is deleted. */
const isRemoteKept = async ({ object, cluster, kind }: ReconcileContext): Promise<boolean> =>
  isOrphan(object) || isRetained(object) || isObserveOnly(object) || (await cluster.isKindDeleting(kind));

/**
 * The next object of this name finds the retained remote in a list, so no list from before the create may count. Throws
 * Waiting while an interrupted create may still be carried out. Sends no request: the account may no longer exist.
 */
function prepareRetention(context: ReconcileContext): void {
  const { object, kind } = context;
  const intent = openIntentOf(object);
  if (!intent || !isRetained(object) || isOrphan(object) || kind.location.type !== "collection") return;
  const { account } = context;
  if (!account.isCreateRefused(object, intent)) refuseUnsettled(account.createSettlement.remainingMs(object, intent));
  account.collection(kind.resource).invalidateList();
}

async function deleteRemotes(context: ReconcileContext): Promise<void> {
  if (context.kind.location.type === "modules") return releaseModules(context);
  const id = await findIDToDelete(context);
  const ids = [id, ...retiringOf(context)]
    .filter((one) => one !== undefined)
    .filter((one) => !isKnownForeign(context, one));
  if (ids.length === 0) return;
  waitForReferrers(context);
  await waitForUsers(context, ids);
  if (id !== undefined) context.state.remote ??= { id };
  for (const one of ids.filter((each) => !staysForOthers(context, each))) {
    if (await deleteOrLeaveBehind(context, one)) context.changes.push({ type: "Deleted", id: one });
  }
}

/**
 * A remote that cannot be deleted blocks its object. But in a namespace that is being deleted the remote is left in the
 * account with an event, and this returns false.
 */
async function deleteOrLeaveBehind(context: ReconcileContext, id: string): Promise<boolean> {
  const { object, cluster, kind } = context;
  const result = await deleteRemote(context, id).catch((error: unknown) => inUseOrThrow(error));
  if (result === true) return true;
  const refusal = result || unsupported(context, id);
  if (!(await cluster.isNamespaceDeleting(object.metadata.namespace))) throw refusal;
  const user = result && (await unmanagedUser(context, id));
  if (result && !user) throw refusal;
  const why = user ? `${user} uses it and stays` : `the service cannot delete a ${kind.resource.title}`;
  const note = `Left ${id} in the account: ${why}, and the namespace goes away`;
  cluster.emit(object, { type: "Warning", reason: refusal.reason, action: "Delete", note });
  return false;
}

function inUseOrThrow(error: unknown): ReconcileError {
  if (isReconcileError(error) && error.reason === "InUse") return error;
  throw error;
}

const unsupported = (context: ReconcileContext, id: string): ReconcileError =>
  deleteUnsupported(
    context,
    `Delete ${id} by hand, then set the annotation ${annotations.orphan}: "true": the service cannot delete a ${context.kind.resource.title}`,
  );

/** The id in the status or, when the status may lack it, that of the remote that is found for the object. */
async function findIDToDelete(context: ReconcileContext): Promise<string | undefined> {
  const id = context.object.status?.id;
  if (openIntentOf(context.object)) return (await findRemote(context))?.id;
  // The object may have adopted a remote and then lost its status.
  if (id === undefined) return (await findByOwnerMark(context))?.id;
  const remotes = remotesOf(context);
  // Never delete what another object or cluster has marked meanwhile. A new process has to list to see the mark.
  await remotes.listed(0, context.lane);
  const remote = remotes.cached(id);
  if (remote) refuseForeignMark(context, remote);
  return id;
}

/** Never delete a remote that objects refer to: without its policy an edge would let everybody in, or nobody. */
function waitForReferrers(context: ReconcileContext): void {
  const { cluster, kind, object } = context;
  const referrers = cluster.referrersOf(kind, object).map((referrer) => referrer.object);
  const staying = referrers.filter((referrer) => !isDeleting(referrer));
  if (staying.length > 0) {
    throw new Waiting("InUse", `Delete or change ${namesOf(staying)} first: it refers to this ${kind.kind}`, {
      afterSeconds: 300,
    });
  }
  const since = Date.parse(object.metadata.deletionTimestamp ?? "");
  // Math.abs: a deletion time in the future means that the calendar was set back.
  if (referrers.length === 0 || Math.abs(now(context) - since) > REFERRERS_FIRST_MS) return;
  throw new Waiting(
    "Deleting",
    `Waiting for ${namesOf(referrers)}, which refers to this ${kind.kind}, to be deleted first`,
    {
      afterSeconds: 5,
    },
  );
}

/** An object may have dropped its reference in the spec while its remote in the account still has it. */
async function waitForUsers(context: ReconcileContext, ids: readonly string[]): Promise<void> {
  const users = await usersOf(context, ids);
  if (users.length === 0) return;
  const message = `Waiting for ${namesOf(users)}: what it has in the account still uses this ${context.kind.kind}`;
  // Checking costs no request, so it is frequent at first, and rarer the longer it takes.
  const waited = (now(context) - Date.parse(context.object.metadata.deletionTimestamp ?? "")) / 1000;
  throw new Waiting("InUse", message, { afterSeconds: Math.min(Math.max(waited / 10, 1), 60) });
}

function namesOf(objects: readonly ManagedObject[]): string {
  const names = objects.map(({ kind, metadata }) => `${kind} "${metadata.name}"`).sort();
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}
