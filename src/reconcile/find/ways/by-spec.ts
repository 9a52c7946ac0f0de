import type { Find } from "../../../account/remotes/remotes.ts";
import type { Remote } from "../../../gateway/resource.ts";
import { entryIDIn, idFromSpec, setsNoModule } from "../../../objects/identity.ts";
import { type Intent, openIntentOf } from "../../../objects/intent.ts";
import {
  isDeleting,
  isObserveOnly,
  isObserver,
  isReconcileRequested,
  type ManagedObject,
} from "../../../objects/object.ts";
import {
  getRemote,
  type ReconcileContext,
  readRemote,
  remotesOf,
  requestOptions,
  retire,
  retiringOf,
} from "../../context.ts";
import { refuseAdoption, remoteMissing } from "../../decide/conflicts.ts";
import { holds } from "../../decide/holders.ts";
import { ensureTakeable } from "../../decide/may-take.ts";
import { resolveDesired } from "../../desired/desired.ts";
import { forgetLeftEntry, isPreexisting, noteEntryOrigin } from "../../use/sharing.ts";
import { membersToRead } from "../module-origins.ts";
import { findInterruptedCreate } from "./by-intent.ts";
import { getFromRightAccount } from "./by-status-id.ts";

/**
 * The remote whose id follows from the spec. Undefined when it does not exist and has to be created. The account can
 * have only one such remote, and it may exist without having been created by this object.
 */
export async function findBySpec(context: ReconcileContext): Promise<Remote | undefined> {
  const { kind, object, cluster } = context;
  const id = idFromSpec(kind, object, cluster) ?? object.status?.id ?? interruptedDeletion(context);
  if (id === undefined) return unresolved(context);
  if (kind.location.type !== "entry") await refuseHolders(context, id);
  await retireFormer(context, id);
  await retireInterrupted(context, id);
  const intent = unsettledIntent(context);
  if (object.status?.id !== id && !intent?.signed) refuseEntryOfOthers(context, id);
  const remote =
    (await getByName(context, id)) ?? (intent && (await findInterruptedCreate(context, intent, withID(id))));
  if (!remote) return noteAbsence(context, id);
  if (kind.location.type !== "entry") return remote;
  if (intent?.signed) noteEntryOrigin(context, false);
  else if (object.status?.id !== id) await noteFoundEntry(context, id);
  else forgetLeftEntry(context, id);
  return remote;
}

/** Modules of a route are taken with the first PUT. */
async function refuseHolders(context: ReconcileContext, id: string): Promise<void> {
  const { kind, object } = context;
  const takesNothing = isObserveOnly(object) || setsNoModule(kind, object) || holds(kind, object, id);
  await ensureTakeable(context, { id, way: takesNothing ? "held" : "set" });
}

async function noteFoundEntry(context: ReconcileContext, id: string): Promise<void> {
  await ensureTakeable(context, { id, way: "shared" });
  noteEntryOrigin(context, isPreexisting(context, id));
}

/**
 * Throws Blocked when the entry would change the list of a parent that others may own: one that is named by id, or by
 * an object that only observes.
 */
function refuseEntryOfOthers(context: ReconcileContext, id: string): void {
  const { kind, object, cluster } = context;
  if (kind.location.type !== "entry" || isDeleting(object)) return;
  const { parent } = kind.location;
  const parentID = id.slice(0, id.indexOf("/"));
  const { namespace } = object.metadata;
  const isOurs = (other: ManagedObject) => other.metadata.namespace === namespace && !isObserver(other);
  if (!cluster.othersWithRemoteID(parent, parentID, object).some(isOurs)) refuseAdoption(context, parentID);
}

function noteAbsence(context: ReconcileContext, id: string): undefined {
  const { object, changes } = context;
  if (object.status?.id === id) changes.push({ type: "Missing", id });
  if (isDeleting(object)) return;
  if (isObserveOnly(object) || (object.status?.id === id && object.spec.driftPolicy === "Report"))
    throw remoteMissing(context, id);
}

/** A reference has no id yet. Resolving the spec throws Waiting and names the missing object. */
async function unresolved({ kind, object, cluster }: ReconcileContext): Promise<undefined> {
  if (!isDeleting(object)) await resolveDesired(kind, object, cluster);
  return undefined;
}

async function getByName(context: ReconcileContext, id: string): Promise<Remote | undefined> {
  const first = membersToRead(context, id);
  if (first.length > 0) await remotesOf(context).read(id, requestOptions(context), first);
  const asked = isReconcileRequested(context.object);
  if (context.object.status?.id !== id) return (asked ? readRemote : getRemote)(context, id);
  // A list may lag behind, so the service is asked before the remote counts as gone.
  return (await getFromRightAccount(context, id)) ?? (asked ? undefined : readRemote(context, id));
}

/**
 * The spec names another remote than before, for example because the parent of an entry was recreated. The former one
 * is deleted.
 */
async function retireFormer(context: ReconcileContext, id: string): Promise<void> {
  const { id: before, preexisting } = context.object.status ?? {};
  if (before === undefined || before === id || preexisting) return;
  // A process that has just started knows no remote yet.
  await remotesOf(context).listed(0, requestOptions(context));
  if (remotesOf(context).cached(before)) retire(context, before);
}

/** The id of the entry that a create may have made whose outcome the status does not have. */
function interruptedID(context: ReconcileContext): string | undefined {
  const intent = unsettledIntent(context);
  return intent?.signed ? entryIDIn(context.kind, intent.sent) : undefined;
}

/** Like `interruptedID`, for an object that is being deleted: the object of the parent may be gone by then. */
const interruptedDeletion = (context: ReconcileContext): string | undefined =>
  isDeleting(context.object) ? interruptedID(context) : undefined;

/** Like `retireFormer`, for an entry whose create was not answered before its parent was recreated. */
async function retireInterrupted(context: ReconcileContext, id: string): Promise<void> {
  const intent = unsettledIntent(context);
  const former = interruptedID(context);
  if (!intent || former === undefined || former === id || retiringOf(context).includes(former)) return;
  if (await findInterruptedCreate(context, intent, withID(former))) retire(context, former);
}

const withID =
  (id: string): Find =>
  (all) =>
    all().find((remote) => remote.id === id);

/** The intent of a create that may have been sent and whose outcome the status does not have. */
function unsettledIntent({ object, record }: ReconcileContext): Intent | undefined {
  const intent = openIntentOf(object);
  return intent && !record.isCreateFutile(intent) ? intent : undefined;
}
