import type { Find } from "../../../account/remotes/remotes.ts";
import type { Remote } from "../../../gateway/resource.ts";
import { hasNaturalKey } from "../../../objects/identity.ts";
import { type ReconcileContext, remotesOf, requestOptions } from "../../context.ts";
import { readUnlistedMarks } from "../../decide/unlisted-marks.ts";

/**
 * The remote with the natural key of the spec, such as its domain, in lists that began at `since` (monotonic
 * milliseconds) or later. Undefined for kinds without a natural key.
 */
export async function findByNaturalKey(context: ReconcileContext, since: number): Promise<Remote | undefined> {
  const { kind, object } = context;
  if (!kind.naturalKey) return undefined;
  const isMeant = (remote: Remote) => hasNaturalKey(kind, remote, object.spec);
  const find: Find = async (all) => {
    await readUnlistedMarks(context, all, isMeant);
    return all().find(isMeant);
  };
  return remotesOf(context).search(since, find, { ...requestOptions(context), lane: "retry" });
}
