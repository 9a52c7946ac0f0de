import type { Find } from "../../../account/remotes/remotes.ts";
import type { Remote } from "../../../gateway/resource.ts";
import { idFromSpec, listedID, setsNoModule } from "../../../objects/identity.ts";
import { isDeleting, isObserveOnly, isReconcileRequested } from "../../../objects/object.ts";
import { refuse } from "../../../objects/reconcile-error.ts";
import {
  getRemote,
  noteOrigin,
  pendingCreateOf,
  type ReconcileContext,
  readRemote,
  remotesOf,
  requestOptions,
  retire,
} from "../../context.ts";
import { missingRemote, refusalToAdopt } from "../../decide/conflicts.ts";
import { holds } from "../../decide/holders.ts";
import { ensureTakeable } from "../../decide/may-take.ts";
import { resolveDesired } from "../../desired/desired.ts";
import { type EntryContext, isEntry, isOfModules } from "../../features.ts";
import { forgetLeftEntry, mayHaveEntry, noteEntryOrigin } from "../../use/sharing.ts";
import { membersToRead } from "../module-origins.ts";
import { findInterruptedCreate } from "./by-create.ts";
import { getFromRightAccount } from "./by-status-id.ts";

/**
 * The remote whose id follows from the spec. Undefined when it does not exist and has to be created. The account can
 * have only one such remote, and it may exist without having been created by this object.
 */
export async function findBySpec(context: ReconcileContext): Promise<Remote | undefined> {
  const { kind, object, cluster } = context;
  const id = idFromSpec(kind, object, cluster) ?? object.status?.id;
  if (id === undefined) return unresolved(context);
  if (!isEntry(context)) await refuseHolders(context, id);
  else if (object.status?.id !== id) refuseEntryOfOthers(context, id);
  await retireFormer(context, id);
  const create = object.status?.id === id ? undefined : pendingCreateOf(context);
  const find: Find = (all) => all().find((one) => one.id === id);
  const remote =
    (await getByName(context, id)) ??
    (create === undefined ? undefined : await findInterruptedCreate(context, create, { find }));
  if (!remote) return noteAbsence(context, id);
  if (isEntry(context)) await noteEntry(context, id, create);
  return remote;
}

/** `create`: the create that may have made the entry. */
async function noteEntry(context: EntryContext, id: string, create: string | undefined): Promise<void> {
  if (context.object.status?.id === id) return forgetLeftEntry(context, id);
  if (create !== undefined && mayHaveEntry(context, id)) return noteOrigin(context, "Created", create);
  await ensureTakeable(context, { id, way: "shared" });
  noteEntryOrigin(context, id);
}

/** Modules of a route are taken with the first PUT. */
async function refuseHolders(context: ReconcileContext, id: string): Promise<void> {
  const { kind, object } = context;
  const takesNothing = isObserveOnly(object) || setsNoModule(kind, object) || holds(kind, object, id);
  await ensureTakeable(context, { id, way: takesNothing ? "held" : "set" });
}

/**
 * Throws Blocked when the entry would change the list of a parent that others may own: one that is named by id, or by
 * an object that only observes.
 */
function refuseEntryOfOthers(context: EntryContext, id: string): void {
  if (isDeleting(context.object) || mayHaveEntry(context, id)) return;
  refuse(refusalToAdopt(context, listedID(context.kind, id)));
}

function noteAbsence(context: ReconcileContext, id: string): undefined {
  const { object, changes } = context;
  if (object.status?.id === id) changes.push({ type: "Missing", id });
  if (isDeleting(object)) return;
  if (isObserveOnly(object) || (object.status?.id === id && object.spec.driftPolicy === "Report"))
    throw missingRemote(context, id);
}

/** A reference has no id yet. Resolving the spec throws Waiting and names the missing object. */
async function unresolved({ kind, object, cluster }: ReconcileContext): Promise<undefined> {
  if (!isDeleting(object)) await resolveDesired(kind, object, cluster);
  return undefined;
}

async function getByName(context: ReconcileContext, id: string): Promise<Remote | undefined> {
  const first = isOfModules(context) ? membersToRead(context, id) : [];
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
  const { id: before, origin } = context.object.status ?? {};
  if (before === undefined || before === id || origin === "Adopted") return;
  // A process that has just started knows no remote yet.
  await remotesOf(context).listed(0, requestOptions(context));
  if (remotesOf(context).cached(before)) retire(context, before);
}
