import type { Remote } from "../../../gateway/resource.ts";
import { adoptionNeedsID } from "../../../objects/errors/ownership.ts";
import { isObserveOnly } from "../../../objects/object.ts";
import { originOf } from "../../../objects/origin.ts";
import { Outdated } from "../../../objects/reconcile-error.ts";
import { noteOrigin, type ReconcileContext, remotesOf, requestOptions } from "../../context.ts";
import { missingRemote } from "../../decide/conflicts.ts";
import { handoverSource } from "../../decide/handover.ts";
import { ensureTakeable } from "../../decide/may-take.ts";
import { findByNaturalKey } from "./by-natural-key.ts";

/**
 * The remote with the natural key of the spec, for `spec.adopt.existing` and for objects that only observe. If there is
 * none, an object that adopts creates its remote, and an object that observes is blocked.
 */
export async function findExisting(context: ReconcileContext): Promise<Remote | undefined> {
  const { naturalKey, resource } = context.kind;
  if (!naturalKey) throw adoptionNeedsID({ title: resource.title });
  const remote = await findByNaturalKey(context, context.clock.now());
  if (remote) return adopt(context, remote.id, remote);
  if (isObserveOnly(context.object)) throw missingRemote(context, String(context.object.spec[naturalKey]));
  return undefined;
}

/** Takes over a remote that this object does not hold. An object that only observes just reads it. */
export async function adopt(context: ReconcileContext, id: string, found?: Remote): Promise<Remote> {
  const { object } = context;
  const isObserved = isObserveOnly(object);
  await ensureTakeable(context, { id, way: isObserved ? "observed" : "adopted", found });
  const remotes = remotesOf(context);
  const remote = remotes.cached(id) ?? found ?? (await remotes.read(id, requestOptions(context)));
  if (!remote) throw new Outdated(`${id} is gone`);
  if (isObserved) return remote;
  const source = handoverSource(context, id);
  context.changes.push({ type: "Adopted", id: remote.id });
  noteLeftModules(context, remote.id);
  if (object.status?.origin === undefined)
    noteOrigin(context, source ? originOf(source) : "Adopted", source?.status?.created);
  return remote;
}

/** Copies `leftOn` from the other objects of the remote, which may be deleted before this one. */
function noteLeftModules({ cluster, kind, object, state }: ReconcileContext, id: string): void {
  const others = cluster.othersWithRemoteID(kind, id, object);
  const left = [object, ...others].flatMap(({ status }) => status?.leftOn ?? []);
  if (left.length > 0) state.next.leftOn = [...new Set(left)];
}
