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

/** How long the deletion of a replaced remote rests after the service has refused it. */
const POSTPONE_SECONDS = 300;

/**
 * Makes a new remote beside the old one, which is deleted by `retire` once everything that refers to it has moved.
 * There is never more than one of either: another replacement waits until the last one is through.
 */
export async function replace(context: ReconcileContext, desired: Desired, old: Remote): Promise<Remote> {
  const { object } = context;
  const retiring = retiringOf(context);
  if (retiring !== undefined) {
    throw new Waiting("Updating", `Waiting for ${retiring} to be deleted before the next replacement`, {
      afterSeconds: 5,
    });
  }
  // the intent names what is in the status, so the old one has to be there before it is recorded
  if (object.status?.id !== old.id) await checkpointID(context, "Replacing the resource");
  return create(context, desired, old.id);
}

/** Deletes the remote and creates it anew; for what cannot exist twice. */
export async function recreate(context: ReconcileContext, desired: Desired, { id }: Remote): Promise<Remote> {
  const { changes, kind, object } = context;
  // a process that ends in between must know what the new one takes the place of
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

/** Deletes the remote that was replaced, as soon as nothing refers to it any more. */
export async function deleteReplaced(context: ReconcileContext): Promise<void> {
  const { state, account } = context;
  const id = retiringOf(context);
  if (id === undefined || id === state.remote?.id || account.isPostponed(id)) return;
  if (await isReferredTo(context, id)) return;
  try {
    if (!staysForOthers(context, id) && !isKnownForeign(context, id)) await deleteWithLossGuard(context, id);
  } catch (error) {
    // something that is not managed here still uses it: it is tried again, and nobody's traffic suffers
    if (!isGatewayError(error) || ![400, 409, 422].includes(error.status ?? 0)) throw error;
    account.postpone(id, POSTPONE_SECONDS);
    return;
  }
  context.changes.push({ type: "Deleted", id });
  state.retiring = null;
}

/** A create of it may have been sent, and may name what it was to refer to then. */
function mayBeCreating(object: ManagedObject, account: Account): boolean {
  const intent = intentOf(object);
  return intent !== undefined && !account.wasRefused(object, intent);
}

/** Whether the remote of some referrer still has the id in it, as far as the account was last seen. */
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
