import type { Find } from "../../../account/remotes/remotes.ts";
import type { Remote } from "../../../gateway/resource.ts";
import { clusterUnknown, statusLost } from "../../../objects/errors/ownership.ts";
import { hasNaturalKey } from "../../../objects/identity.ts";
import { intentOf, openCreateOf } from "../../../objects/intent.ts";
import { hasFinalizer } from "../../../objects/object.ts";
import { isMarkOf, ownerMarkOf, ownerTextOf, parseMark } from "../../../objects/ownership.ts";
import { fromAnswer } from "../../../schema/wire/answer.ts";
import type { Body } from "../../../schema/wire/request.ts";
import {
  has,
  noteOriginOfMarked,
  type ReconcileContext,
  remotesOf,
  requestOptions,
  retiringOf,
} from "../../context.ts";
import {
  hasForeignMark,
  isHeldByNoOther,
  markedForObject,
  newestOf,
  refuseUnreadable,
} from "../../decide/conflicts.ts";
import { readUnlistedMarks } from "../../decide/unlisted-marks.ts";
import { resolveDesired } from "../../desired/desired.ts";
import { plan } from "../../desired/plan.ts";
import { findSettled } from "./by-create.ts";

/**
 * A remote with this object's mark that an earlier object of the same name left in the account, because it was retained
 * or orphaned, or because its status was lost. Adopting it prevents a duplicate. In the life of a process this costs one
 * list of the resource, or two if it has several pages, and a GET when there is such a remote.
 */
export async function findByOwnerMark(context: ReconcileContext): Promise<Remote | undefined> {
  const { kind, owner, changes, object, record } = context;
  // The token of an API key is shown only once. It is lost here, and whoever has it still needs the key.
  if (kind.output?.shownOnce) return has(context, "Missing") ? tellOfMarked(context) : undefined;
  if (!kind.resource.create.includes("metadata")) return undefined;
  const isOurs = (remote: Remote) => isMarkOf(ownerMarkOf(remote), owner);
  const find: Find = async (all) => {
    await readUnlistedMarks(
      context,
      all,
      (remote) => isHeldByNoOther(context, remote) && hasNaturalKey(context.kind, remote, context.object.spec),
    );
    return findFitting(context, isOurs);
  };
  // With the finalizer, a create may have been sent. If its annotation is lost, nobody has searched for what it made.
  const mayHaveCreated = object.status?.id === undefined && openCreateOf(object) === undefined && hasFinalizer(object);
  const listed = await (mayHaveCreated
    ? findSettled(context, find, record.settledAt)
    : remotesOf(context).search(0, find, requestOptions(context)));
  if (!listed) return refuseUnmarked(context) ?? refuseUnknownCluster(context);
  const remote = await remotesOf(context).read(listed.id, requestOptions(context));
  if (!remote || !isOurs(remote)) return undefined;
  changes.push({ type: "Adopted", id: remote.id });
  noteOriginOfMarked(context, remote);
  return remote;
}

/**
 * The status was restored from a backup, and the remote that has replaced the one in it cannot be adopted. Emits an
 * event.
 */
async function tellOfMarked(context: ReconcileContext): Promise<undefined> {
  const remotes = remotesOf(context);
  await remotes.listed(0, requestOptions(context));
  await readUnlistedMarks(
    context,
    () => remotes.allCached(),
    (remote) => isHeldByNoOther(context, remote),
  );
  const marked = markedForObject(context).filter(
    (remote) => isMarkOf(ownerMarkOf(remote), context.owner) && isHeldByNoOther(context, remote),
  );
  const ids = marked.map(({ id }) => id).filter((id) => !retiringOf(context).includes(id));
  if (ids.length > 0) context.changes.push({ type: "Duplicates", ids });
}

/**
 * Throws Blocked when the status is lost, and the annotation alone says which remote the object had, since the text of
 * its spec leaves no room for an owner mark. Whoever may edit the object can write that, so a person has to confirm it.
 */
function refuseUnmarked(context: ReconcileContext): undefined {
  const { object, owner } = context;
  const { id, owner: mark } = intentOf(object)?.unmarked ?? {};
  const remote = id === undefined ? undefined : remotesOf(context).cached(id);
  if (!remote || object.status?.id !== undefined || object.spec.adopt !== undefined) return;
  if (!isMarkOf(mark, owner) || !isHeldByNoOther(context, remote) || hasForeignMark(context, remote)) return;
  throw statusLost({ id: remote.id });
}

/**
 * Throws Blocked when a remote has the mark of an unknown cluster for an object of this name. A rebuilt cluster has
 * another id, so the remote may belong to this object, and a create would make a second one. If a person has set the id
 * of this cluster, marks with other ids belong to other clusters.
 */
async function refuseUnknownCluster(context: ReconcileContext): Promise<undefined> {
  const { owner, isClusterIDSet } = context;
  if (isClusterIDSet) return;
  const fitting = await allFitting(context, (remote) => !isMarkOf(ownerMarkOf(remote), owner));
  const [remote] = fitting;
  const mark = remote && ownerMarkOf(remote);
  const named = parseMark(mark);
  if (!remote || !mark || !named) return;
  throw clusterUnknown({ id: remote.id, owner: ownerTextOf(mark), cluster: named.cluster, own: owner.cluster });
}

const findFitting = async (
  context: ReconcileContext,
  isMeant: (remote: Remote) => boolean,
): Promise<Remote | undefined> => newestOf(context, await allFitting(context, isMeant));

/** Remotes with a mark for an object of this name whose immutable values match the spec. */
async function allFitting(context: ReconcileContext, isMeant: (remote: Remote) => boolean): Promise<Remote[]> {
  refuseUnreadable(context, isMeant);
  const marked = markedForObject(context).filter(
    (remote) =>
      isMeant(remote) && isHeldByNoOther(context, remote) && hasNaturalKey(context.kind, remote, context.object.spec),
  );
  if (marked.length === 0) return [];
  const { body } = await resolveDesired(context.kind, context.object, context.cluster);
  return marked.filter((remote) => hasSameIdentity(context, remote, body));
}

/** A remote with another value in an immutable field is not the one that this object asks for. */
const hasSameIdentity = ({ kind }: ReconcileContext, remote: Remote, wanted: Body): boolean =>
  plan(kind, { wanted, seen: fromAnswer(kind.spec, remote), applied: [], renewed: [] }).frozen.length === 0;
