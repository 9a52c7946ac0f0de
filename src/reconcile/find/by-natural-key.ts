import type { Remote } from "../../gateway/resource.ts";
import { naturalKeyOf } from "../../objects/identity.ts";
import { type ReconcileContext, remotesOf, requestOptions } from "../context.ts";

/**
 * The remote with the natural key of the spec, such as its domain, in lists that began at `since` (monotonic
 * milliseconds) or later. Undefined for kinds without a natural key.
 */
export async function findByNaturalKey(context: ReconcileContext, since: number): Promise<Remote | undefined> {
  if (!context.kind.naturalKey) return undefined;
  return remotesOf(context).search(since, (all) => all().find((remote) => hasNaturalKey(context, remote)), {
    ...requestOptions(context),
    lane: "retry",
  });
}

/** Whether a remote has the natural key of the spec; true for kinds without a natural key. */
export const hasNaturalKey = ({ kind, object }: ReconcileContext, remote: Remote): boolean =>
  naturalKeyOf(kind, remote) === naturalKeyOf(kind, object.spec);
