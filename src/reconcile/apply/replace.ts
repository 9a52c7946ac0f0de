import { isRefused, isUnauthorized } from "../../gateway/errors.ts";
import type { Remote } from "../../gateway/resource.ts";
import { withArticle } from "../../schema/article.ts";
import { type ReconcileContext, retiringOf } from "../context.ts";
import { isKnownForeign } from "../decide/conflicts.ts";
import { refuseUnreadableHolder } from "../decide/holders.ts";
import { refuseNewForeignMark } from "../decide/unlisted-marks.ts";
import type { Desired } from "../desired/desired.ts";
import { UnreadableKind } from "../unreadable-kind.ts";
import { usageOf } from "../use/in-use.ts";
import { mayKeyBeUsed } from "../use/key-in-use.ts";
import { isKeptForOthers } from "../use/sharing.ts";
import { checkpointID } from "./checkpoint.ts";
import { create } from "./create.ts";
import { deleteUnsupported, deleteWithLossGuard } from "./delete-remote.ts";
import { deleteUnused } from "./delete-unused.ts";

/** How long a replaced remote waits before it is looked at again. */
const STILL_USED = { base: 2, cap: 300, jitter: 0 };
const REFUSED = { base: 300, cap: 3600, jitter: 0 };

/** A list up to this old suffices to see that a replaced remote is still used. Milliseconds. */
const STILL_USED_MS = 60_000;

/**
 * Creates a new remote beside the old one. `deleteReplaced` deletes the old one once nothing refers to it. An old
 * remote that cannot be deleted yet does not stop the next replacement.
 */
export async function replace(context: ReconcileContext, desired: Desired, old: Remote): Promise<Remote> {
  const { object } = context;
  await refuseNewForeignMark(context, old.id);
  // The intent takes the id of the old remote from the status, so the status must have it first.
  if (object.status?.id !== old.id) await checkpointID(context, "Replacing the resource");
  return create(context, desired, old.id);
}

/** Deletes the remote and creates it again. For remotes of which the account can have only one. */
export async function recreate(context: ReconcileContext, desired: Desired, { id }: Remote): Promise<Remote> {
  const { changes, kind, object } = context;
  // If this process dies between delete and create, the next one needs the old id.
  if (object.status?.id !== id) await checkpointID(context, "Replacing the resource");
  if (!(await deleteUnused(context, id))) {
    throw deleteUnsupported(
      context,
      `Delete ${id} by hand, and it is created anew: the service can neither update nor delete ${withArticle(kind.resource.title)}`,
    );
  }
  changes.push({ type: "Deleted", id });
  return create(context, desired);
}

/**
 * Deletes each replaced remote to which nothing refers any more. A remote that the service refuses to delete is left for
 * later.
 */
export async function deleteReplaced(context: ReconcileContext): Promise<void> {
  for (const id of retiringOf(context)) {
    if (id !== context.state.remote?.id && context.record.secondsUntilDelete(id) === 0)
      await deleteUnlessUsed(context, id).catch((error: unknown) => {
        // Whether it is used is unknown. Trying later harms nobody, and an old remote must not stop what is new.
        if (!(error instanceof UnreadableKind)) throw error;
        context.record.deferDelete(id, STILL_USED);
      });
  }
}

async function deleteUnlessUsed(context: ReconcileContext, id: string): Promise<void> {
  const { state, record } = context;
  const { users, hidden, assertValid } = await usageOf(context, id, STILL_USED_MS);
  refuseUnreadableHolder(context, id, "InUse");
  if (users.length + hidden.length > 0 || (await mayKeyBeUsed(context, id))) {
    record.deferDelete(id, hidden.length > 0 && !users.some((user) => user.object) ? REFUSED : STILL_USED);
    return;
  }
  try {
    if (!isKeptForOthers(context, id) && !isKnownForeign(context, id))
      await deleteWithLossGuard(context, id, assertValid);
  } catch (error) {
    return tryLater(context, id, error);
  }
  context.changes.push({ type: "Deleted", id });
  state.retiring = retiringOf(context).filter((one) => one !== id);
}

/**
 * It is safe to delete a remote later, and an old one must not stop what is new. Throws the error unless it is a
 * refusal. After a 401 no request succeeds.
 */
function tryLater({ record, cluster, object }: ReconcileContext, id: string, error: unknown): void {
  if (!isRefused(error) || isUnauthorized(error)) throw error;
  record.deferDelete(id, REFUSED);
  const { status = 0, message } = error;
  // A user that cannot be seen may still use the remote.
  if ([400, 409, 422].includes(status)) return;
  const note = `Delete ${id} in the account, once nothing uses it: it was replaced, and the service refuses to delete it: ${message}`;
  cluster.emit(object, { type: "Warning", reason: "DeleteUnsupported", action: "Delete", note });
}
