import type { ReconcileContext } from "../context.ts";
import { refuseUnreadableHolder } from "../decide/holders.ts";
import { refuseWhileUsed } from "../use/in-use.ts";
import { refuseWhileKeyUsed } from "../use/key-in-use.ts";
import { deleteRemote } from "./delete-remote.ts";

/**
 * Deletes a remote that nothing uses, whoever wants it deleted: its object, the replacement of its object, or a person
 * with a command. Returns false when the service lacks the delete operation, and throws a ReconcileError for any other
 * reason to keep the remote.
 */
export async function deleteUnused(context: ReconcileContext, id: string): Promise<boolean> {
  refuseUnreadableHolder(context, id, "InUse");
  const assertValid = await refuseWhileUsed(context, id);
  await refuseWhileKeyUsed(context, id);
  return deleteRemote(context, id, assertValid);
}
