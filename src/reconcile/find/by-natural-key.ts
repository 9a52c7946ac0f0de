import type { Remote } from "../../gateway/resource.ts";
import { naturalKeyOf } from "../../objects/identity.ts";
import { type ReconcileContext, remotesOf, requestOptions } from "../context.ts";

/**
 * The remote with the natural key of the spec, such as its domain, in a list that began at `since` (monotonic
 * milliseconds) or later. Undefined for kinds without a natural key.
 */
export async function findByNaturalKey(context: ReconcileContext, since: number): Promise<Remote | undefined> {
  if (!context.kind.naturalKey) return undefined;
  const remotes = remotesOf(context);
  await remotes.listed(since, { ...requestOptions(context), lane: "retry" });
  return remotes.allCached().find((remote) => hasNaturalKey(context, remote));
}

/** Whether a remote has the natural key of the spec; true for kinds without a natural key. */
export const hasNaturalKey = ({ kind, object }: ReconcileContext, remote: Remote): boolean =>
  naturalKeyOf(kind, remote) === naturalKeyOf(kind, object.spec);
