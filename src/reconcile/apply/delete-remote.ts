import { refuseHollowDeletion } from "../../account/mass-loss-guard.ts";
import { type GatewayError, isGatewayError, isUnsupported } from "../../gateway/errors.ts";
import { Retry, Waiting } from "../../objects/reconcile-error.ts";
import { type Pass, remotesOf, sending } from "../context.ts";

/** Deletes one remote, in its turn. False when it is there still, since the service has no such operation. */
export async function removeOne(pass: Pass, id: string): Promise<boolean> {
  const { account, kind } = pass;
  // somebody may have done it by hand
  if (!account.supports(kind.remote, "delete")) return isGone(pass, id);
  waitForTurn(pass, id);
  try {
    if (await removeSurely(pass, id)) return true;
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    if (!isUnsupported(error)) throw inUse(pass, error) ?? refused(pass, error);
    account.lacks(kind.remote, "delete");
    return false;
  }
  // where the page does not show the operation, a 404 can mean that there is none
  if (kind.remote.verbs.delete !== "unshown" || (await isGone(pass, id))) return true;
  account.lacks(kind.remote, "delete");
  return false;
}

const isGone = async (pass: Pass, id: string): Promise<boolean> =>
  (await remotesOf(pass).find(id, sending(pass), true)) === undefined;

function waitForTurn({ account: { deletions } }: Pass, id: string): void {
  const seconds = deletions.wait(id);
  if (seconds === 0) return;
  const message = `Waiting for its turn: at most ${deletions.perMinute} are deleted in a minute (MAX_DELETES_PER_MINUTE)`;
  throw new Waiting("Deleting", message, { afterSeconds: seconds });
}

/** Services answer 400 as well as 409 for what is in use, so any such refusal of a delete is taken for it. */
function inUse({ kind }: Pass, error: GatewayError): Waiting | undefined {
  if (error.status !== 400 && error.status !== 409 && error.status !== 422) return undefined;
  const words = error.serviceMessage ?? "it is still in use";
  return new Waiting("InUse", `Remove what still uses this ${kind.remote.title} in the account: ${words}`, {
    cause: error,
  });
}

/** No spec is to blame for it, so that it is tried again and again. */
function refused({ kind }: Pass, error: GatewayError): Error {
  if (error.kind !== "refused" || error.status === 401 || error.status === 403) return error;
  const words = error.serviceMessage ?? error.message;
  const message = `Check the state of the service: it refuses to delete this ${kind.remote.title}: ${words}`;
  return new Retry("UnexpectedResponse", message, { cause: error });
}

/**
 * Deletes one remote. False when it was not there, which counts only where the account has others of what objects
 * stand for: in the wrong account nothing is there, and nothing has been deleted.
 */
export async function removeSurely(pass: Pass, id: string): Promise<boolean> {
  const { deletions } = pass.account;
  const remotes = remotesOf(pass);
  const surprising = remotes.known(id) !== undefined && !deletions.mayBeDone(id);
  const was = await remove(pass, id);
  if (!was) {
    await remotes.listed(0, pass.lane);
    refuseHollowDeletion(pass, surprising);
  }
  deletions.forget(id);
  return was;
}

async function remove(pass: Pass, id: string): Promise<boolean> {
  try {
    return await remotesOf(pass).remove(id, sending(pass));
  } catch (error) {
    if (isGatewayError(error) && ["unknown", "failed", "unreadable"].includes(error.kind))
      pass.account.deletions.uncertain(id);
    throw error;
  }
}
