import type { Remote } from "../../gateway/resource.ts";
import { retiringIDs } from "../../objects/object.ts";
import { isMarkOf, ownerMark, ownerMarkOf } from "../../objects/ownership.ts";
import { type ReconcileContext, retiringOf } from "../context.ts";
import { isMarkKnown } from "./unlisted-marks.ts";

/** Where no answer has told of a mark, the status goes on saying what it says. */
export function noteOwner(context: ReconcileContext, remote: Remote): void {
  if (!isMarkKnown(context, remote.id)) return;
  context.state.owner = ownerMarkOf(remote) === undefined ? ownerMark(context.owner) : "";
}

/**
 * Call it as soon as the object has a remote, since a later step may fail. The owner in a copied status is that of the
 * remotes in it: it would keep the object from a remote of its own, and what it has replaced is its to delete.
 */
export function forgetFormerOwner(context: ReconcileContext, remote: Remote): void {
  const { object, owner, state } = context;
  const { status } = object;
  if (status?.owner === undefined || status.id === remote.id) return;
  noteOwner(context, remote);
  if (isMarkOf(status.owner, owner)) return;
  const former = [status.id, ...retiringIDs(status)];
  state.retiring = retiringOf(context).filter((id) => !former.includes(id));
}
