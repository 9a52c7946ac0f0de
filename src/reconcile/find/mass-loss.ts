import { type Loss, MAX_RECHECK_MS, type MissingRemote } from "../../account/mass-loss-guard.ts";
import { isDeleting, type ManagedObject } from "../../objects/object.ts";
import { Blocked } from "../../objects/reconcile-error.ts";
import { objectsInAccount, type ReconcileContext, remotesOf } from "../context.ts";

/** If fewer remotes than this are missing, a person may have deleted them by hand. */
const FEWEST = 5;
const SHARE = 0.1;

/** So many deletions of one kind may be under way when a process is killed. The next process gets 404 for all of them. */
const UNDER_WAY = 32;

/**
 * Throws Blocked (AccountMismatch) when so many remotes of objects are missing that the API key more likely belongs to
 * another account: with such a key, everything would be created again, and every deletion would count as done. A person
 * confirms a real loss by setting reconcile-requested-at on the objects that are meant.
 */
export function refuseMassLoss(context: ReconcileContext): void {
  if (context.account.lossGuard.isConfirmed(context.object)) return;
  const loss = lossOf(context, (object) => !isDeleting(object));
  if (isMass(loss)) throw mismatch(context, loss);
}

/**
 * The same for a deletion that was answered 404. `surprising`: the remote was listed, and no deletion of it was sent.
 * When it is not surprising and the account is not suspected, the remotes of objects that are being deleted may have
 * been deleted by a process that was killed, so more of them may be missing.
 */
export function refuseHollowDeletion(context: ReconcileContext, surprising: boolean): void {
  const { lossGuard } = context.account;
  if (lossGuard.isConfirmed(context.object)) return;
  refuseMassLoss(context);
  const loss = lossOf(context, () => true);
  const few = surprising || lossGuard.isSuspected(suspectOf(context).resource) ? FEWEST - 1 : UNDER_WAY;
  if (loss.missing === loss.total && loss.missing > few) throw mismatch(context, loss);
}

/** Never create a remote in a suspected account that has none of the remotes of other objects. */
export function refuseStrangeAccount(context: ReconcileContext): void {
  const { lossGuard } = context.account;
  if (!lossGuard.isSuspected(suspectOf(context).resource) || lossGuard.isConfirmed(context.object)) return;
  const loss = lossOf(context, (object) => !isDeleting(object));
  // An object without a remote is in no list, so no list delta enqueues it: it has to come back by itself.
  if (isMass(loss) && loss.missing === loss.total) throw mismatch(context, loss, MAX_RECHECK_MS / 1000);
}

function lossOf(context: ReconcileContext, counts: (object: ManagedObject) => boolean): Loss {
  const remotes = remotesOf(context);
  const ids = objectsInAccount(context, context.kind)
    .filter(counts)
    .flatMap(({ status }) => status?.id ?? []);
  return { missing: ids.filter((id) => remotes.isMissing(id)).length, total: ids.length };
}

const isMass = ({ missing, total }: Loss): boolean => missing >= FEWEST && missing > total * SHARE;

function mismatch(context: ReconcileContext, loss: Loss, afterSeconds?: number): Blocked {
  const suspect = suspectOf(context);
  if (suspect.id !== "") context.account.lossGuard.suspect(suspect, loss);
  return new Blocked(
    "AccountMismatch",
    `Check the API key: ${loss.missing} of ${loss.total} are not in the account. If they were deleted there, set the annotation reconcile-requested-at`,
    afterSeconds === undefined ? {} : { afterSeconds },
  );
}

/** The remote to ask for. An entry has no address of its own, so its parent is asked for. */
function suspectOf({ kind, object }: ReconcileContext): MissingRemote {
  const id = object.status?.id ?? "";
  if (kind.location.type !== "entry") return { resource: kind.resource, id };
  return { resource: kind.location.parent.resource, id: id.slice(0, Math.max(id.indexOf("/"), 0)) };
}
