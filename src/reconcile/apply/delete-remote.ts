import { type GatewayError, isGatewayError, isUnanswered, isUnsupported } from "../../gateway/errors.ts";
import { turnAwaited, usersGoing } from "../../objects/errors/deletion.ts";
import { deleteRefused } from "../../objects/errors/service.ts";
import { creatableRemotesOf, type ReconcileContext, remotesOf, requestOptions } from "../context.ts";
import { refuseDeletionInMassLoss } from "../decide/mass-loss.ts";
import {
  type DeletionRefusal,
  Permit,
  permitDeletion,
  refusalToDelete,
  type WayToDelete,
} from "../decide/may-delete.ts";
import { withdrawRecords } from "../dns/withdraw.ts";
import { hasRecords } from "../features.ts";
import { inUseErrorOf } from "../use/refusal.ts";
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
    if (usersGoing.valuesOf(permit.error)?.isCycle) await emptyRemote(context, id);
    return permit;
  }
  if (account.operations.mayTry(kind.resource, "delete") && !(await sendInTurn(context, permit, way)))
    return { check: "operationExists", error: refusalToDelete(context, id, way) };
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
  await account.turns.reserve(requestOptions(context));
  refuseBeforeTurn(context, id);
  try {
    account.operations.tried(kind.resource, "delete");
    if (await deleteWithLossGuard(context, permit)) return accepted(context);
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    if (!isUnsupported(error)) throw inUseErrorOf(context, error) ?? refusedDelete(context, error);
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

const isGone = async (context: ReconcileContext, id: string): Promise<boolean> =>
  (await remotesOf(context).read(id, requestOptions(context))) === undefined;

function refuseBeforeTurn({ account: { deleteLimiter }, object }: ReconcileContext, id: string): void {
  const seconds = deleteLimiter.secondsUntilTurn(id, object.metadata.namespace);
  if (seconds === 0) return;
  throw turnAwaited({ perMinute: deleteLimiter.perMinute }, { afterSeconds: seconds });
}

/** No edit of the spec can make a refused deletion succeed, so this is Retry and not Blocked. */
function refusedDelete({ kind }: ReconcileContext, error: GatewayError): Error {
  if (error.kind !== "refused" || error.status === 401 || error.status === 403) return error;
  return deleteRefused({ title: kind.resource.title, answer: error.serviceMessage ?? error.message }, { cause: error });
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
