import { REFUSED_DELAYS } from "../../account/object-record.ts";
import type { Remote } from "../../gateway/resource.ts";
import { retiringIDs } from "../../objects/object.ts";
import { canBeMarked, isMarkOf, metadataOf, ownerMark, ownerMarkOf } from "../../objects/ownership.ts";
import { epochMs, markFor, type ReconcileContext, retiringOf } from "../context.ts";
import { isMarkKnown } from "../decide/unlisted-marks.ts";

/** Records whether the remote has the owner mark. Keeps what the status says while no answer has shown the metadata. */
export function noteOwner(context: ReconcileContext, remote: Remote): void {
  if (!isMarkKnown(context, remote.id)) return;
  const { object, owner, state } = context;
  const { status } = object;
  const mark = ownerMarkOf(remote);
  // The replaced remotes of this object may still carry the mark of the former object, and this object deletes them.
  const former = isMarkOf(status?.owner, owner) && retiringOf(context).length > 0 ? status?.formerOwner : undefined;
  const isOther = mark !== undefined && !isMarkOf(mark, owner);
  state.next.formerOwner = (isOther ? mark : former) ?? "";
  state.next.owner = mark === undefined || state.next.formerOwner !== "" ? ownerMark(owner) : "";
  const wanted = markFor(context, remote);
  const isDone = mark === ownerMark(wanted) || status?.id !== remote.id || !canBeMarked(metadataOf(remote), wanted);
  if (isDone && status?.refusedMark && !state.drift?.fields.includes("metadata")) state.next.refusedMark ??= null;
}

/**
 * Records that the service has refused the owner mark, for the next process and for a plan. It may have refused it for
 * another reason, so the first refusal counts for less time than later ones.
 */
export function noteRefusedMark(context: ReconcileContext, { id }: Remote): void {
  const { object, owner, state } = context;
  const { status } = object;
  const before = status?.id === id && status.refusedMark?.owner === ownerMark(owner) ? status.refusedMark : undefined;
  if (before && Date.parse(before.retryAt) > epochMs(context)) return;
  const seconds = before ? REFUSED_DELAYS.cap : REFUSED_DELAYS.base;
  state.next.refusedMark = {
    owner: ownerMark(owner),
    retryAt: new Date(epochMs(context) + seconds * 1000).toISOString(),
  };
}

/**
 * Call it as soon as the object has a remote, since a later step may fail. The owner in a copied status is that of the
 * remotes in it: it would keep the object from a remote of its own, and what it has replaced is its to delete.
 */
export function forgetCopiedOwner(context: ReconcileContext, remote: Remote): void {
  const { object, owner, state } = context;
  const { status } = object;
  if (status?.owner === undefined || status.id === remote.id) return;
  noteOwner(context, remote);
  if (isMarkOf(status.owner, owner)) return;
  const former = [status.id, ...retiringIDs(status)];
  state.next.retiring = retiringOf(context).filter((id) => !former.includes(id));
}
