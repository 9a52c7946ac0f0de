import { isGatewayError } from "../gateway/errors.ts";
import { refuseHollowDeletion } from "./brake.ts";
import { type Pass, remotesOf, sending } from "./pass.ts";

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
