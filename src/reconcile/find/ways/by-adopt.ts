import type { Remote } from "../../../gateway/resource.ts";
import { isObserveOnly } from "../../../objects/object.ts";
import { originOf } from "../../../objects/origin.ts";
import { isMarkOf, ownerMarkOf } from "../../../objects/ownership.ts";
import { Blocked } from "../../../objects/reconcile-error.ts";
import { withArticle } from "../../../schema/article.ts";
import { type ReconcileContext, remotesOf, requestOptions } from "../../context.ts";
import { refuseAdoption, refuseForeignMark, remoteMissing, seeRemoteOfOwner } from "../../decide/conflicts.ts";
import { handoverSource } from "../../decide/handover.ts";
import { refuseOtherHolder, refuseUnreadableHolder } from "../../decide/holders.ts";
import { readMark } from "../../decide/unlisted-marks.ts";
import { findByNaturalKey } from "./by-natural-key.ts";

/** The remote that `spec.adopt.id` names. */
export async function findByAdoptID(context: ReconcileContext, id: string): Promise<Remote> {
  await refuseOtherHolder(context, id);
  const remote = await remotesOf(context).read(id, requestOptions(context));
  if (!remote)
    throw new Blocked(
      "RemoteMissing",
      `Correct spec.adopt.id: the account has no ${context.kind.resource.title} ${id}`,
    );
  return adopt(context, remote);
}

/**
 * The remote with the natural key of the spec, for `spec.adopt.existing` and for objects that only observe. If there is
 * none, an object that adopts creates its remote, and an object that observes is blocked.
 */
export async function findExisting(context: ReconcileContext): Promise<Remote | undefined> {
  const { naturalKey, resource } = context.kind;
  if (!naturalKey)
    throw new Blocked("RemoteMissing", `Set spec.adopt.id: ${withArticle(resource.title)} can only be found by its id`);
  const remote = await findByNaturalKey(context, context.clock.now());
  if (remote) {
    await refuseOtherHolder(context, remote.id);
    return adopt(context, remote);
  }
  if (isObserveOnly(context.object)) throw remoteMissing(context, String(context.object.spec[naturalKey]));
  return undefined;
}

/** Takes over a remote that this object does not hold. An object that only observes just reads it. */
export async function adopt(context: ReconcileContext, found: Remote): Promise<Remote> {
  const { object, owner, state } = context;
  const { origin } = object.status ?? {};
  if (isObserveOnly(object)) return found;
  await readMark(context, found.id);
  const remote = remotesOf(context).cached(found.id) ?? found;
  await seeRemoteOfOwner(context, remote);
  refuseForeignMark(context, remote);
  const source = handoverSource(context, remote.id);
  // A remote that another object hands over, or that was created for this object, is not adopted.
  const isOwn = origin === "Created" || isMarkOf(ownerMarkOf(remote), owner);
  if (!source && !isOwn) refuseAdoption(context, remote.id);
  if (!source) refuseUnreadableHolder(context, remote.id, "OwnershipConflict");
  context.changes.push({ type: "Adopted", id: remote.id });
  noteLeftModules(context, remote.id);
  state.origin = origin ?? (source ? originOf(source) : "Adopted");
  return remote;
}

/** Copies `leftOn` from the other objects of the remote, which may be deleted before this one. */
function noteLeftModules({ cluster, kind, object, state }: ReconcileContext, id: string): void {
  const others = cluster.othersWithRemoteID(kind, id, object);
  const left = [object, ...others].flatMap(({ status }) => status?.leftOn ?? []);
  if (left.length > 0) state.leftOn = [...new Set(left)];
}
