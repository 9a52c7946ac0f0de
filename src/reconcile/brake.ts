import { Blocked } from "./fate.ts";
import { asksForLook } from "./object.ts";
import { type Pass, remotesOf } from "./pass.ts";

/** Fewer than this may well have been deleted by somebody. */
const FEWEST = 5;
const SHARE = 0.1;

/**
 * Stops where so much of what objects stand for is missing that the account is more likely another one: the key of
 * the wrong account must neither create everything a second time, nor take every deletion for done. A person confirms
 * by asking for a look, on the objects that are meant.
 */
export function refuseMassLoss(pass: Pass): void {
  const { cluster, kind, object } = pass;
  if (asksForLook(object)) return;
  const remotes = remotesOf(pass);
  const ids = cluster.remoteIDs(kind, object);
  const missing = ids.filter((id) => remotes.isMissing(id)).length;
  if (missing < FEWEST || missing <= ids.length * SHARE) return;
  throw new Blocked(
    "AccountMismatch",
    `Check the API key: ${missing} of ${ids.length} are not in the account. If they were deleted there, set the annotation reconcile-requested-at`,
  );
}
