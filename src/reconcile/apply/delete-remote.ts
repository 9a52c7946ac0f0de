import { type GatewayError, isGatewayError, isUnanswered, isUnsupported } from "../../gateway/errors.ts";
import { Retry, Waiting } from "../../objects/reconcile-error.ts";
import { creatableRemotesOf, type ReconcileContext, remotesOf, requestOptions } from "../context.ts";
import { refuseDeletionInMassLoss } from "../decide/mass-loss.ts";
import {
  type DeletionRefusal,
  deleteUnsupported,
  Permit,
  permitDeletion,
  type WayToDelete,
} from "../decide/may-delete.ts";
import { withdrawRecords } from "../dns/withdraw.ts";
import { hasRecords } from "../features.ts";
import { StillUsed } from "../use/in-use.ts";
import { refusedAsInUse } from "../use/refusal.ts";
import { emptyRemote } from "./empty-remote.ts";

/**
 * Deletes one remote, or finds it deleted. Returns the refusal if a check or the service is against it. What has to
 * come before the request follows the checks in this order: DNS records go, then it takes its places in the request
 * budget and in the limit of deletions. Throws a ReconcileError while one of them lasts. If the process dies in between,
 * the next one asks everything again.
 */
export async function deleteRemote(
  context: ReconcileContext,
  id: string,
  way: WayToDelete,
): Promise<DeletionRefusal | undefined> {
  const { account, kind } = context;
  const permit = await permitDeletion(context, { id, way });
  if (!(permit instanceof Permit)) {
    if (permit.error instanceof StillUsed && permit.error.isCycle) await emptyRemote(context, id);
    return permit;
  }
  if (account.operations.mayTry(kind.resource, "delete") && !(await sendInTurn(context, permit, way)))
    return { check: "operationExists", error: deleteUnsupported(context, id, way) };
  context.changes.push({ type: "Deleted", id });
  return undefined;
}

/** False when the service lacks the operation. */
async function sendInTurn(context: ReconcileContext, permit: Permit, way: WayToDelete): Promise<boolean> {
  const { account, kind } = context;
  const { id } = permit;
  // The records of a remote that was replaced are those of the one that the object has now.
  if (hasRecords(context) && way !== "replaced") await withdrawRecords(context, id, way === "leftover");
  // Takes its place in the request budget first: a reconcile that was postponed after its turn to delete would lose
  // that turn.
  await account.turns.hold(requestOptions(context));
  waitForTurn(context, id);
  try {
    account.operations.tried(kind.resource, "delete");
    if (await deleteWithLossGuard(context, permit)) return accepted(context);
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    if (!isUnsupported(error)) throw refusedAsInUse(context, error) ?? refusedDelete(context, error);
    account.operations.refused(kind.resource, "delete");
    return false;
  }
  // When the API page does not document the operation, a 404 can mean that the operation does not exist.
  if (kind.resource.verbs.delete !== "undocumented" || (await isGone(context, id))) return accepted(context);
  account.operations.refused(kind.resource, "delete");
  return false;
}

function accepted({ account, kind }: ReconcileContext): true {
  account.operations.accepted(kind.resource, "delete");
  return true;
}

/** Thrown when as many remotes as may be were deleted within the last minute. */
export class WaitingForTurn extends Waiting {}

const isGone = async (context: ReconcileContext, id: string): Promise<boolean> =>
  (await remotesOf(context).read(id, requestOptions(context))) === undefined;

function waitForTurn({ account: { deleteLimiter }, object }: ReconcileContext, id: string): void {
  const seconds = deleteLimiter.secondsUntilTurn(id, object.metadata.namespace);
  if (seconds === 0) return;
  const message = `Waiting for its turn: at most ${deleteLimiter.perMinute} are deleted in a minute (MAX_DELETES_PER_MINUTE, in the chart gateway.maxDeletesPerMinute)`;
  throw new WaitingForTurn("Deleting", message, { afterSeconds: seconds });
}

/** No edit of the spec can make a refused deletion succeed, so this is Retry and not Blocked. */
function refusedDelete({ kind }: ReconcileContext, error: GatewayError): Error {
  if (error.kind !== "refused" || error.status === 401 || error.status === 403) return error;
  const words = error.serviceMessage ?? error.message;
  const message = `Check the state of the service: it refuses to delete this ${kind.resource.title}: ${words}`;
  return new Retry("UnexpectedResponse", message, { cause: error });
}

/**
 * Returns false when the service answered 404. Throws Blocked (AccountMismatch) after a 404 if the remotes of other
 * objects are missing as well: the API key then belongs to another account, and nothing has been deleted.
 */
async function deleteWithLossGuard(context: ReconcileContext, permit: Permit): Promise<boolean> {
  const { id } = permit;
  const { deleteLimiter } = context.account;
  const remotes = remotesOf(context);
  const surprising = remotes.cached(id) !== undefined && !context.record.uncertainDeletes.has(id);
  const existed = await sendDelete(context, permit);
  if (!existed) {
    await remotes.listed(0, requestOptions(context));
    refuseDeletionInMassLoss(context, surprising);
  }
  deleteLimiter.forget(id);
  context.record.forgetRemote(id);
  return existed;
}

async function sendDelete(context: ReconcileContext, permit: Permit): Promise<boolean> {
  try {
    return await creatableRemotesOf(context).delete(permit.id, permit.request);
  } catch (error) {
    // A refusal excuses no later 404: under the key of another account, each deletion would be refused or not found.
    if (isUnanswered(error)) context.record.uncertainDeletes.add(permit.id);
    throw error;
  }
}
