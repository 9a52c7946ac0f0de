import type { Remote } from "../../gateway/resource.ts";
import { ownerMark, ownerMarkOf } from "../../objects/ownership.ts";
import type { ReconcileContext } from "../context.ts";
import { isMarkKnown } from "./unlisted-marks.ts";

/** Where no answer has told of a mark, the status goes on saying what it says. */
export function noteOwner(context: ReconcileContext, remote: Remote): void {
  if (!isMarkKnown(context, remote.id)) return;
  context.state.owner = ownerMarkOf(remote) === undefined ? ownerMark(context.owner) : "";
}

/**
 * Call it as soon as the object has a remote, since a later step may fail. The owner in a copied status is that of the
 * remote in it, and would keep the object from a remote of its own.
 */
export function forgetFormerOwner(context: ReconcileContext, remote: Remote): void {
  const { status } = context.object;
  if (status?.owner !== undefined && status.id !== remote.id) noteOwner(context, remote);
}
