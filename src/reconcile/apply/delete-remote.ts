import { type GatewayError, isGatewayError, isUnanswered, isUnsupported } from "../../gateway/errors.ts";
import { Blocked, type ReconcileError, Retry, Waiting } from "../../objects/reconcile-error.ts";
import { withArticle } from "../../schema/article.ts";
import { assertSameAccount, creatableRemotesOf, type ReconcileContext, remotesOf, requestOptions } from "../context.ts";
import { refuseDeletionInMassLoss } from "../decide/mass-loss.ts";
import { refuseNewForeignMark } from "../decide/unlisted-marks.ts";
import { withdrawRecords } from "../dns/withdraw.ts";
import { refusedAsInUse } from "../use/refusal.ts";

/**
 * Deletes one remote, or finds it deleted. Its DNS records are deleted first. `assertValid` is called right before the
 * request, and throws if the request must not be sent. Throws Waiting while DNS records remain, or when the limit of
 * deletes per minute is reached. Returns false when the service lacks the delete operation.
 */
export async function deleteRemote(context: ReconcileContext, id: string, assertValid: () => void): Promise<boolean> {
  const { account, kind } = context;
  // The service lacks the operation. A person may have deleted the remote by hand.
  if (!account.operations.mayTry(kind.resource, "delete")) return isGone(context, id);
  await withdrawRecords(context, id);
  // Takes its place in the request budget first: a reconcile that was postponed after its turn to delete would lose
  // that turn.
  await account.turns.hold(requestOptions(context));
  waitForTurn(context, id);
  try {
    account.operations.tried(kind.resource, "delete");
    if (await deleteWithLossGuard(context, id, assertValid)) return accepted(context);
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

/**
 * The error to throw when `deleteRemote` returned false. A single refusal may come from a gateway in maintenance. So it
 * is Retry until it is certain that the service cannot delete such a remote, and then Blocked with `message`.
 */
export function deleteUnsupported({ account, kind }: ReconcileContext, message: string): ReconcileError {
  if (account.operations.of(kind.resource, "delete") === "unsupported")
    return new Blocked("DeleteUnsupported", message);
  return new Retry(
    "DeleteUnsupported",
    `Waiting to try again, no action is needed yet: the service refuses to delete ${withArticle(kind.resource.title)}`,
    { afterSeconds: Math.max(account.operations.secondsUntilTry(kind.resource, "delete"), 1) },
  );
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
 * Deletes one remote, unless `assertValid` throws. Returns false when the service answered 404. Throws Blocked
 * (AccountMismatch) after a 404 if the remotes of other objects are missing as well: the API key then belongs to
 * another account, and nothing has been deleted.
 */
export async function deleteWithLossGuard(
  context: ReconcileContext,
  id: string,
  assertValid: () => void,
): Promise<boolean> {
  const { deleteLimiter } = context.account;
  const remotes = remotesOf(context);
  const surprising = remotes.cached(id) !== undefined && !context.record.uncertainDeletes.has(id);
  await refuseNewForeignMark(context, id);
  const existed = await sendDelete(context, id, assertValid);
  if (!existed) {
    await remotes.listed(0, requestOptions(context));
    refuseDeletionInMassLoss(context, surprising);
  }
  deleteLimiter.forget(id);
  context.record.forgetRemote(id);
  return existed;
}

async function sendDelete(context: ReconcileContext, id: string, assertUnused: () => void): Promise<boolean> {
  const assertValid = () => {
    assertSameAccount(context);
    assertUnused();
  };
  try {
    return await creatableRemotesOf(context).delete(id, { ...requestOptions(context), assertValid });
  } catch (error) {
    // A refusal excuses no later 404: under the key of another account, each deletion would be refused or not found.
    if (isUnanswered(error)) context.record.uncertainDeletes.add(id);
    throw error;
  }
}
