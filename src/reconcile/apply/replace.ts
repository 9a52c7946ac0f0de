import { isForbidden, isGatewayError } from "../../gateway/errors.ts";
import type { Remote } from "../../gateway/resource.ts";
import { turnAwaited } from "../../objects/errors/deletion.ts";
import { reconcileErrorOf } from "../../objects/map-error.ts";
import { isReconcileError, type ReconcileError, Waiting } from "../../objects/reconcile-error.ts";
import { type ReconcileContext, retiringOf } from "../context.ts";
import type { DeletionRefusal } from "../decide/may-delete.ts";
import { refuseNewForeignMark } from "../decide/unlisted-marks.ts";
import type { Desired } from "../desired/desired.ts";
import { isEntry } from "../features.ts";
import { leaveEntry } from "../use/sharing.ts";
import { isUnseenToken } from "../use/token-records.ts";
import { checkpointID } from "./checkpoint.ts";
import { create } from "./create.ts";
import { deleteRemote } from "./delete-remote.ts";
import { noteAsked } from "./refused-request.ts";

/** How long a replaced remote waits before it is looked at again. */
const STILL_USED = { base: 2, cap: 300, jitter: 0 };
const REFUSED = { base: 300, cap: 3600, jitter: 0 };

/**
 * Creates a new remote beside the old one. `deleteReplaced` deletes the old one once nothing refers to it. An old
 * remote that cannot be deleted yet does not stop the next replacement.
 */
export async function replace(context: ReconcileContext, desired: Desired, old: Remote): Promise<Remote> {
  const { object } = context;
  await refuseNewForeignMark(context, old.id);
  // The next process deletes what was replaced by the id in the status.
  if (object.status?.id !== old.id) return checkpointID(context, "Replacing the resource");
  return create(context, desired, old.id);
}

/** Deletes the remote and creates it again. For remotes of which the account can have only one. */
export async function recreate(context: ReconcileContext, desired: Desired, { id }: Remote): Promise<Remote> {
  const { spec, status } = context.object;
  // An object that only reports drift has to know, if no create follows, that nobody else has deleted its remote.
  const recreating = spec.driftPolicy === "Report" ? id : "";
  context.state.next.recreating = recreating;
  // If this process dies between delete and create, the next one needs the old id.
  if (status?.id !== id || (status.recreating ?? "") !== recreating)
    return checkpointID(context, "Replacing the resource");
  const refusal = await deleteRemote(context, id, "recreated");
  if (refusal) throw refusal.error;
  noteAsked(context, desired, undefined);
  return create(context, desired);
}

/**
 * Deletes each replaced remote that nothing keeps. What is refused is left for later, and stops nothing that is new: it
 * is safe to delete a remote later. `isValueStored`: whether the Secret has the value of the present remote, if that is
 * shown once. Before, the former value may be all that works.
 */
export async function deleteReplaced(context: ReconcileContext, isValueStored: boolean): Promise<void> {
  const { record, state } = context;
  const mayGo = (id: string) => isValueStored || isUnseenToken(context, id);
  for (const id of retiringOf(context)) {
    if (id === state.remote?.id || record.secondsUntilDelete(id) > 0 || !mayGo(id)) continue;
    try {
      const refusal = await deleteRemote(context, id, "replaced");
      if (refusal && !leaveToOthers(context, id, refusal)) tryLater(context, id, refusal.error);
      else forgetRetired(context, id);
    } catch (error) {
      tryLater(context, id, refusalOf(error));
    }
  }
}

export function forgetRetired(context: ReconcileContext, id: string): void {
  context.state.next.retiring = retiringOf(context).filter((one) => one !== id);
}

/** What is somebody else's, or wanted by others, needs no deletion by this object. */
export function leaveToOthers(context: ReconcileContext, id: string, { check }: DeletionRefusal): boolean {
  if (check === "wantedByNobodyElse" && isEntry(context)) leaveEntry(context, id);
  return ["heldByNobodyElse", "markedByNobodyElse", "wantedByNobodyElse"].includes(check);
}

/** After a 401 no request succeeds, and under the key of another account nothing may go on. */
function refusalOf(error: unknown): ReconcileError {
  const refused = isForbidden(error) ? reconcileErrorOf(error) : error;
  if (!isReconcileError(refused) || refused.reason === "AccountMismatch") throw error;
  return refused;
}

function tryLater({ record, cluster, object }: ReconcileContext, id: string, error: ReconcileError): void {
  const { afterSeconds = 1, cause } = error;
  const delay = error instanceof Waiting && cause === undefined ? STILL_USED : REFUSED;
  const isTurn = turnAwaited.valuesOf(error) !== undefined;
  record.deferDelete(id, isTurn ? { base: afterSeconds, cap: afterSeconds, jitter: 0 } : delay);
  const isRefusedByService = isGatewayError(cause) || error.reason === "DeleteUnsupported";
  // A user that cannot be seen may still use the remote.
  if (error instanceof Waiting || !isRefusedByService) return;
  const words = isGatewayError(cause) ? `: ${cause.message}` : "";
  const note = `Delete ${id} in the account, once nothing uses it: it was replaced, and the service refuses to delete it${words}`;
  cluster.emit(object, { type: "Warning", reason: "DeleteUnsupported", action: "Delete", note });
}
