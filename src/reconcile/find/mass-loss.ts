import { LONGEST_RECHECK_MS, type Loss, type Suspect } from "../../account/mass-loss-guard.ts";
import { isDeleting, type ManagedObject } from "../../objects/object.ts";
import { Blocked } from "../../objects/reconcile-error.ts";
import { objectsInAccount, type ReconcileContext, remotesOf } from "../context.ts";

/** Fewer than this may well have been deleted by somebody. */
const FEWEST = 5;
const SHARE = 0.1;

/** So many deletions of one kind a process may have under way when it is killed; its successor finds them done. */
const UNDER_WAY = 32;

/**
 * Stops where so much of what objects stand for is missing that the account is more likely another one: the key of
 * the wrong account must neither create everything a second time, nor take every deletion for done. A person confirms
 * by asking for a look, on the objects that are meant.
 */
export function refuseMassLoss(context: ReconcileContext): void {
  if (context.account.lossGuard.isConfirmed(context.object)) return;
  const loss = lossOf(context, (object) => !isDeleting(object));
  if (isMass(loss)) throw mismatch(context, loss);
}

/**
 * The same for a deletion that found nothing to delete. `surprising`: it was there, and no deletion of it was begun.
 * Otherwise, and unless the account is suspected already, what is missing of objects that are being deleted may have
 * been deleted by a process that was killed.
 */
export function refuseHollowDeletion(context: ReconcileContext, surprising: boolean): void {
  const { lossGuard } = context.account;
  if (lossGuard.isConfirmed(context.object)) return;
  refuseMassLoss(context);
  const loss = lossOf(context, () => true);
  const few = surprising || lossGuard.isSuspected(suspectOf(context).resource) ? FEWEST - 1 : UNDER_WAY;
  if (loss.missing === loss.total && loss.missing > few) throw mismatch(context, loss);
}

/** Nothing is made in an account that turned out to have nothing of what objects stand for. */
export function refuseStrangeAccount(context: ReconcileContext): void {
  const { lossGuard } = context.account;
  if (!lossGuard.isSuspected(suspectOf(context).resource) || lossGuard.isConfirmed(context.object)) return;
  const loss = lossOf(context, (object) => !isDeleting(object));
  // no list wakes what is not in the account yet
  if (isMass(loss) && loss.missing === loss.total) throw mismatch(context, loss, LONGEST_RECHECK_MS / 1000);
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

/** What to ask for: of an entry, the resource in whose list it is. */
function suspectOf({ kind, object }: ReconcileContext): Suspect {
  const id = object.status?.id ?? "";
  if (kind.location.type !== "entry") return { resource: kind.remote, id };
  return { resource: kind.location.parent.remote, id: id.slice(0, Math.max(id.indexOf("/"), 0)) };
}
