import type { Account } from "../../account/account.ts";
import { isGatewayError } from "../../gateway/errors.ts";
import type { Remote } from "../../gateway/resource.ts";
import { managedMembers } from "../../objects/identity.ts";
import { intentOf } from "../../objects/intent.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Blocked, Waiting } from "../../objects/reconcile-error.ts";
import { type ReconcileContext, requestOptions, retiringOf } from "../context.ts";
import type { Desired } from "../desired/desired.ts";
import { isKnownForeign } from "../find/conflicts.ts";
import { staysForOthers } from "../find/sharing.ts";
import { checkpointID } from "./checkpoint.ts";
import { create } from "./create.ts";
import { deleteRemote, deleteWithLossGuard } from "./delete-remote.ts";
import { containsID } from "./users.ts";

/** How soon the deletion of a replaced remote is tried again after the service has refused it. */
const POSTPONE_SECONDS = 300;

/**
 * Creates a new remote beside the old one. `deleteReplaced` deletes the old one once nothing refers to it. Throws Waiting
 * while an earlier replacement is unfinished, so that there are never more than two remotes.
 */
export async function replace(context: ReconcileContext, desired: Desired, old: Remote): Promise<Remote> {
  const { object } = context;
  const retiring = retiringOf(context);
  if (retiring !== undefined) {
    throw new Waiting("Updating", `Waiting for ${retiring} to be deleted before the next replacement`, {
      afterSeconds: 5,
    });
  }
  // The intent takes the id of the old remote from the status, so that id has to be there first.
  if (object.status?.id !== old.id) await checkpointID(context, "Replacing the resource");
  return create(context, desired, old.id);
}

/** Deletes the remote and creates it again, for remotes that cannot exist twice. */
export async function recreate(context: ReconcileContext, desired: Desired, { id }: Remote): Promise<Remote> {
  const { changes, kind, object } = context;
  // If this process dies between delete and create, the next one needs the old id.
  if (object.status?.id !== id) await checkpointID(context, "Replacing the resource");
  if (!(await deleteRemote(context, id))) {
    throw new Blocked(
      "DeleteUnsupported",
      `Delete ${id} by hand, and it is created anew: the service can neither update nor delete a ${kind.remote.title}`,
    );
  }
  changes.push({ type: "Deleted", id });
  return create(context, desired);
}

/** Deletes the remote that was replaced, once no remote refers to it. */
export async function deleteReplaced(context: ReconcileContext): Promise<void> {
  const { state, account } = context;
  const id = retiringOf(context);
  if (id === undefined || id === state.remote?.id || account.isPostponed(id)) return;
  if (await isReferredTo(context, id)) return;
  try {
    if (!staysForOthers(context, id) && !isKnownForeign(context, id)) await deleteWithLossGuard(context, id);
  } catch (error) {
    // Something that has no object still uses it. Trying later harms nobody.
    if (!isGatewayError(error) || ![400, 409, 422].includes(error.status ?? 0)) throw error;
    account.postpone(id, POSTPONE_SECONDS);
    return;
  }
  context.changes.push({ type: "Deleted", id });
  state.retiring = null;
}

/** Whether an object without an id may have sent a create, whose body may refer to the remote that was replaced. */
function mayBeCreating(object: ManagedObject, account: Account): boolean {
  const intent = intentOf(object);
  return intent !== undefined && !account.wasRefused(object, intent);
}

/** Whether the remote of some referrer still contains the id, as far as it is known from lists and answers. */
async function isReferredTo(context: ReconcileContext, id: string): Promise<boolean> {
  const { cluster, kind, object, account } = context;
  for (const referrer of cluster.referrersOf(kind, object)) {
    const remoteID = referrer.object.status?.id;
    if (remoteID === undefined && mayBeCreating(referrer.object, account)) return true;
    if (remoteID === undefined) continue;
    const remote = await account
      .remotes(referrer.kind)
      .find(remoteID, requestOptions(context), false, managedMembers(referrer.kind, referrer.object));
    if (containsID(remote, id)) return true;
  }
  return false;
}
