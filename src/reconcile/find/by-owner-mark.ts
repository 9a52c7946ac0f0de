import type { Find } from "../../account/remotes/remotes.ts";
import type { Remote } from "../../gateway/resource.ts";
import { originOfMarked } from "../../objects/origin.ts";
import { isMarkOf, ownerMarkOf, ownerOf } from "../../objects/ownership.ts";
import { Blocked } from "../../objects/reconcile-error.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import type { Body } from "../../schema/wire/request.ts";
import { has, type ReconcileContext, remotesOf, requestOptions, retiringOf } from "../context.ts";
import { expectedOf } from "../desired/expected.ts";
import { plan } from "../desired/plan.ts";
import { hasNaturalKey } from "./by-natural-key.ts";
import { isUnclaimed, markedForObject, oldestOf } from "./conflicts.ts";
import { readUnlistedMarks } from "./unlisted-marks.ts";

/**
 * A remote with this object's mark that an earlier object of the same name left in the account, because it was retained
 * or orphaned, or because its status and intent were lost. Taking it prevents a duplicate. Costs one list of the
 * resource in the life of a process, or two that have several pages, and a GET when there is such a remote.
 */
export async function findByOwnerMark(context: ReconcileContext): Promise<Remote | undefined> {
  const { kind, owner, changes } = context;
  // The token of an API key is shown once: it is lost here, and whoever has it still needs the key.
  if (kind.output?.shownOnce) return has(context, "Missing") ? tellOfMarked(context) : undefined;
  if (!kind.resource.create.includes("metadata")) return undefined;
  const remotes = remotesOf(context);
  const isOurs = (remote: Remote) => isMarkOf(ownerMarkOf(remote), owner);
  const find: Find = async (all) => {
    await readUnlistedMarks(context, all, (remote) => isUnclaimed(context, remote) && hasNaturalKey(context, remote));
    return findFitting(context, isOurs);
  };
  const listed = await remotes.search(0, find, requestOptions(context));
  if (!listed) return refuseUnknownCluster(context);
  const remote = await remotes.read(listed.id, requestOptions(context));
  if (!remote || !isOurs(remote)) return undefined;
  changes.push({ type: "Adopted", id: remote.id });
  context.state.origin = originOfMarked(context.object);
  return remote;
}

/**
 * The status was restored from a backup, and what has taken the place of its remote since cannot be taken up. An event
 * tells a person of it.
 */
async function tellOfMarked(context: ReconcileContext): Promise<undefined> {
  const remotes = remotesOf(context);
  await remotes.listed(0, requestOptions(context));
  await readUnlistedMarks(
    context,
    () => remotes.allCached(),
    (remote) => isUnclaimed(context, remote),
  );
  const left = markedForObject(context).filter(
    (remote) => isMarkOf(ownerMarkOf(remote), context.owner) && isUnclaimed(context, remote),
  );
  const ids = left.map(({ id }) => id).filter((id) => !retiringOf(context).includes(id));
  if (ids.length > 0) context.changes.push({ type: "Duplicates", ids });
}

/**
 * Throws Blocked when a cluster that nobody has told of has a remote for an object of this name. A rebuilt cluster has
 * another id: the remote is the one of this object, and a create would make it twice. Whoever has set the id of the
 * cluster has told that marks of other ids are those of other clusters.
 */
async function refuseUnknownCluster(context: ReconcileContext): Promise<undefined> {
  const { owner, isClusterIDSet } = context;
  if (isClusterIDSet) return;
  const fitting = await allFitting(context, (remote) => !isMarkOf(ownerMarkOf(remote), owner));
  const [remote] = fitting;
  if (!remote) return;
  const mark = ownerMarkOf(remote) ?? "";
  throw new Blocked(
    "OwnershipConflict",
    `Set formerClusterIDs: ["${ownerOf(mark).cluster}"] if that was this cluster, or clusterID: "${owner.cluster}" if it is another one: ${remote.id} belongs to ${mark}`,
  );
}

const findFitting = async (
  context: ReconcileContext,
  isMeant: (remote: Remote) => boolean,
): Promise<Remote | undefined> => oldestOf(context, await allFitting(context, isMeant));

/** Remotes that are marked for an object of this name, and that have what cannot be changed as the spec asks for it. */
async function allFitting(context: ReconcileContext, isMeant: (remote: Remote) => boolean): Promise<Remote[]> {
  const marked = markedForObject(context).filter(
    (remote) => isMeant(remote) && isUnclaimed(context, remote) && hasNaturalKey(context, remote),
  );
  if (marked.length === 0) return [];
  const { body } = await expectedOf(context);
  return marked.filter((remote) => hasSameIdentity(context, remote, body));
}

/** With another value in a field that cannot be updated, a remote is not the one that this object asks for. */
const hasSameIdentity = ({ kind }: ReconcileContext, remote: Remote, wanted: Body): boolean =>
  plan(kind, { wanted, seen: fromAnswer(kind.spec, remote), applied: [], renewed: [] }).frozen.length === 0;
