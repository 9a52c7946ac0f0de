import { isMadeElsewhere, isNamedBySpec } from "../../objects/identity.ts";
import { openIntentOf } from "../../objects/intent.ts";
import { isDeleting, isObserveOnly, isOrphan, isRetained, type ManagedObject } from "../../objects/object.ts";
import { Blocked, isReconcileError, type ReconcileError, Waiting } from "../../objects/reconcile-error.ts";
import { annotations, FINALIZER } from "../../schema/contract.ts";
import { now, type ReconcileContext, remotesOf, retiringOf } from "../context.ts";
import { refuseUnsettled } from "../find/by-intent.ts";
import { findByOwnerMark } from "../find/by-owner-mark.ts";
import { isKnownForeign, refuseForeignMark } from "../find/conflicts.ts";
import { findRemote } from "../find/find.ts";
import { staysForOthers } from "../find/sharing.ts";
import { deleteRemote } from "./delete-remote.ts";
import { releaseModules } from "./release-modules.ts";
import { unmanagedUser, usersOf } from "./users.ts";

/** How long a remote waits for the referrers that are being deleted as well to go before it. */
const REFERRERS_FIRST_MS = 60_000;

/** How soon an object is looked at that only others hold; a change of it tells before. */
const FOREIGN_FINALIZERS_SECONDS = 1800;

/**
 * Ends an object: its remote goes first, then the finalizer. Needs the id and nothing else of the spec.
 * Returns when the finalizer is gone; throws Waiting while something has to go before it.
 */
export async function deleteObject(context: ReconcileContext): Promise<void> {
  const { object, cluster, kind } = context;
  if (!object.metadata.finalizers?.includes(FINALIZER)) return waitForOthers(object);
  if (await isRemoteKept(context)) prepareRetention(context);
  else await deleteRemotes(context);
  await cluster.removeFinalizer(kind, context.object);
}

/** The garbage collector's own, which nobody has to do anything about. */
const GARBAGE_COLLECTOR_FINALIZERS: readonly string[] = ["foregroundDeletion", "orphan"];

/** Nothing is left to do here, but others have finalizers of their own on the object. */
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

/** Deleting a CRD deletes its objects without asking, so it must never delete what people have in their account. */
const isRemoteKept = async ({ object, cluster, kind }: ReconcileContext): Promise<boolean> =>
  isOrphan(object) || isRetained(object) || isObserveOnly(object) || (await cluster.isKindDeleting(kind));

/**
 * Whoever has the name next takes over what this object leaves, and has to find all of it. Throws Waiting as long as
 * an interrupted create may still be under way. Asks the service for nothing, since it may be gone for long.
 */
function prepareRetention(context: ReconcileContext): void {
  const { object, kind } = context;
  const intent = openIntentOf(object);
  if (!intent || !isRetained(object) || isOrphan(object) || isNamedBySpec(kind)) return;
  const { account } = context;
  if (!account.wasRefused(object, intent)) refuseUnsettled(account.createSettlement.wait(object, intent));
  account.collection(kind.remote).doubt();
}

async function deleteRemotes(context: ReconcileContext): Promise<void> {
  if (isMadeElsewhere(context.kind)) return releaseModules(context);
  const id = await findIDToDelete(context);
  const retiring = retiringOf(context);
  const ids = [id, retiring].filter((one) => one !== undefined).filter((one) => !isKnownForeign(context, one));
  if (ids.length === 0) return;
  waitForReferrers(context);
  await waitForUsers(context, ids);
  if (id !== undefined) context.state.remote ??= { id };
  for (const one of ids.filter((each) => !staysForOthers(context, each))) {
    if (await deleteOrLeaveBehind(context, one)) context.changes.push({ type: "Deleted", id: one });
  }
}

/** False when it stays: what cannot be deleted keeps its object, but not a whole namespace from going away. */
async function deleteOrLeaveBehind(context: ReconcileContext, id: string): Promise<boolean> {
  const { object, cluster, kind } = context;
  const result = await deleteRemote(context, id).catch((error: unknown) => inUseOrThrow(error));
  if (result === true) return true;
  const refusal = result || unsupported(context, id);
  if (!(await cluster.isNamespaceDeleting(object.metadata.namespace))) throw refusal;
  const user = result && (await unmanagedUser(context, id));
  if (result && !user) throw refusal;
  const why = user ? `${user} uses it and stays` : `the service cannot delete a ${kind.remote.title}`;
  const note = `Left ${id} in the account: ${why}, and the namespace goes away`;
  cluster.emit(object, { type: "Warning", reason: refusal.reason, action: "Delete", note });
  return false;
}

function inUseOrThrow(error: unknown): ReconcileError {
  if (isReconcileError(error) && error.reason === "InUse") return error;
  throw error;
}

const unsupported = ({ kind }: ReconcileContext, id: string): Blocked =>
  new Blocked(
    "DeleteUnsupported",
    `Delete ${id} by hand, then set the annotation ${annotations.orphan}: "true": the service cannot delete a ${kind.remote.title}`,
  );

/** The id that was written down, or that of a remote whose create was interrupted. */
async function findIDToDelete(context: ReconcileContext): Promise<string | undefined> {
  const id = context.object.status?.id;
  if (openIntentOf(context.object)) return (await findRemote(context))?.id;
  // taken over, and the status was lost
  if (id === undefined) return isNamedBySpec(context.kind) ? undefined : (await findByOwnerMark(context))?.id;
  const remotes = remotesOf(context);
  // what another object or cluster has marked meanwhile is not ours to delete; a new process has seen nothing yet
  await remotes.listed(0, context.lane);
  const remote = remotes.known(id);
  if (remote) refuseForeignMark(context, remote);
  return id;
}

/** What others still use is not deleted under them: without its policy an edge would admit everybody, or nobody. */
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
  // a deletion that lies ahead tells that the calendar was set back
  if (referrers.length === 0 || Math.abs(now(context) - since) > REFERRERS_FIRST_MS) return;
  throw new Waiting(
    "Deleting",
    `Waiting for ${namesOf(referrers)}, which refers to this ${kind.kind}, to be deleted first`,
    {
      afterSeconds: 5,
    },
  );
}

/** An object that has let go of this one in its spec may not have come to do so in the account. */
async function waitForUsers(context: ReconcileContext, ids: readonly string[]): Promise<void> {
  const users = await usersOf(context, ids);
  if (users.length === 0) return;
  const message = `Waiting for ${namesOf(users)}: what it has in the account still uses this ${context.kind.kind}`;
  // to look costs no request; what is not over soon may take long
  const waited = (now(context) - Date.parse(context.object.metadata.deletionTimestamp ?? "")) / 1000;
  throw new Waiting("InUse", message, { afterSeconds: Math.min(Math.max(waited / 10, 1), 60) });
}

function namesOf(objects: readonly ManagedObject[]): string {
  const names = objects.map(({ kind, metadata }) => `${kind} "${metadata.name}"`).sort();
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}
