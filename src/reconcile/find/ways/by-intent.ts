import type { Find } from "../../../account/remotes/remotes.ts";
import type { Remote } from "../../../gateway/resource.ts";
import { type Intent, mayHaveCreated, wasCreatedInLifetimeOf } from "../../../objects/intent.ts";
import { isDeleting } from "../../../objects/object.ts";
import { originByTime, originOfMarked } from "../../../objects/origin.ts";
import { canBeMarked, isMarkOf, ownerMarkOf } from "../../../objects/ownership.ts";
import { Waiting } from "../../../objects/reconcile-error.ts";
import { fromAnswer } from "../../../schema/wire/answer.ts";
import { differences } from "../../../schema/wire/compare.ts";
import { type ReconcileContext, remotesOf, requestOptions, retire, retiringOf, serviceNow } from "../../context.ts";
import { hasForeignMark, isUnclaimed, markedForObject, oldestOf } from "../../decide/conflicts.ts";
import { refuseUnreadableHolder } from "../../decide/holders.ts";
import { readUnlistedMarks } from "../../decide/unlisted-marks.ts";
import { type Expected, expectedOf, expectedOfIntent } from "../../desired/expected.ts";
import { hasNaturalKey } from "./by-natural-key.ts";
import { findByStatusID } from "./by-status-id.ts";

/**
 * For an object without an id in its status, whose create is known only from the intent. Finds the remote that the
 * create made, or else the remote that was to be replaced. The latter may have been adopted, so it may be older than
 * the first create of the object.
 */
export async function findByIntent(context: ReconcileContext, intent: Intent): Promise<Remote | undefined> {
  const created = await findCreated(context, intent);
  if (!intent.signed || intent.old === undefined || (created && !context.kind.replacement)) return created;
  const replaced = await findReplaced(context, intent.old);
  if (!replaced) return created;
  const origin = originByTime(intent, replaced["created_at"]);
  if (created) retire(context, replaced.id, origin);
  else context.state.origin = origin;
  return created ?? replaced;
}

async function findReplaced(context: ReconcileContext, id: string): Promise<Remote | undefined> {
  const remote = await remotesOf(context).read(id, requestOptions(context));
  if (!remote || !isUnclaimed(context, remote) || hasForeignMark(context, remote)) return undefined;
  refuseUnreadableHolder(context, id, "OwnershipConflict");
  return remote;
}

/**
 * For an object whose remote in the status was to be replaced by a create. The id of the new remote may not have been
 * recorded.
 */
export async function findSuccessor(
  context: ReconcileContext,
  intent: Intent,
  id: string,
): Promise<Remote | undefined> {
  const created = await findCreated(context, intent);
  if (!created) return findByStatusID(context, id);
  retire(context, id);
  return created;
}

async function findCreated(context: ReconcileContext, intent: Intent): Promise<Remote | undefined> {
  if (context.record.isCreateFutile(intent)) return undefined;
  return findInterruptedCreate(context, intent);
}

/**
 * For a create that may have been sent and whose answer was never seen. A remote that a list shows counts at once. That
 * lists show none counts only if they began when the create could no longer be under way. Until then this throws
 * Waiting.
 */
export async function findInterruptedCreate(
  context: ReconcileContext,
  intent: Intent,
  find: Find = (all) => selectCreated(context, intent, all),
): Promise<Remote | undefined> {
  // The intent has the time of the service. A process that has just started learns that time from the first list.
  const isFirst = !context.account.serviceTime.isKnown;
  const early = isFirst ? await findSoFar(context, find) : undefined;
  const wait = context.memory.createSettlement.remainingMs(context.object, intent, serviceNow(context));
  const created = early ?? (await findBySettlement(context, find, { wait, isListed: isFirst }));
  if (created) {
    if (context.kind.location.type === "collection") refuseUnreadableHolder(context, created.id, "OwnershipConflict");
    context.changes.push({ type: "Recovered", id: created.id });
    context.state.origin = intent.signed ? "Created" : originOfMarked(context.object);
    if (intent.signed && intent.fields) context.state.sentFields = intent.fields;
    return created;
  }
  refuseUnsettled(wait);
  context.record.recordFutileCreate(intent);
  return undefined;
}

async function findBySettlement(
  context: ReconcileContext,
  find: Find,
  { wait, isListed }: { wait: number; isListed: boolean },
): Promise<Remote | undefined> {
  if (wait <= 0) return findSettled(context, find, context.clock.now() + wait);
  return isListed ? undefined : findSoFar(context, find);
}

const findSettled = (context: ReconcileContext, find: Find, settledAt: number): Promise<Remote | undefined> =>
  remotesOf(context).search(settledAt, find, { ...requestOptions(context), lane: "retry" });

/** Searches one list that begins now. The create may still be under way, so an empty result proves nothing. */
async function findSoFar(context: ReconcileContext, find: Find): Promise<Remote | undefined> {
  const remotes = remotesOf(context);
  await remotes.listed(context.clock.now(), { ...requestOptions(context), lane: "retry" });
  const found = await find(() => remotes.allCached());
  return found && (remotes.cached(found.id) ?? remotes.read(found.id, requestOptions(context)));
}

/** Throws Waiting while an interrupted create may still be carried out, for this many milliseconds. */
export function refuseUnsettled(wait: number): void {
  if (wait <= 0) return;
  throw new Waiting("Creating", "Waiting until it is certain that an interrupted create came to nothing", {
    afterSeconds: wait / 1000 + 0.5,
  });
}

/**
 * The remote that the create made, by its owner mark. If the create was sent without one: by the natural key, else by
 * all values that were sent, and in both cases by the creation time. An intent without a signature does not justify
 * taking a remote without a mark.
 */
async function selectCreated(
  context: ReconcileContext,
  intent: Intent,
  all: () => readonly Remote[],
): Promise<Remote | undefined> {
  const { kind, object, owner, account } = context;
  const signed = intent.signed ? intent : undefined;
  // A replaced remote that is still to be deleted has the mark as well.
  const former = [signed?.old, ...retiringOf(context)];
  const isCandidate = (remote: Remote) => !former.includes(remote.id) && isUnclaimed(context, remote);
  await readUnlistedMarks(
    context,
    all,
    (remote) =>
      isCandidate(remote) && (kind.naturalKey ? hasNaturalKey(context, remote) : canBeOf(context, intent, remote)),
  );
  const isUnmarkedInTime = (remote: Remote) =>
    signed !== undefined &&
    mayHaveCreated(signed, remote["created_at"], account.deadlineMs) &&
    ownerMarkOf(remote) === undefined;
  if (kind.naturalKey) {
    const remote = all().find((one) => isCandidate(one) && hasNaturalKey(context, one));
    if (!remote || isMarkOf(ownerMarkOf(remote), owner)) return remote;
    // The natural key only shows that a remote exists. If the create sent a mark, a remote without one was made by
    // somebody else.
    return signed?.sent && isUnmarkedInTime(remote) ? remote : undefined;
  }
  const matching = (expected: Expected) => {
    const candidates = all().filter((one) => isCandidate(one) && isUnmarkedInTime(one));
    const remote = oldestOf(
      context,
      candidates.filter((one) => isAsExpected(context, expected, one)),
    );
    // Another object may be looking for an equal remote without a mark at the same time.
    if (remote) context.memory.claim(remote.id, object);
    return remote;
  };
  if (signed?.sent) {
    return matching(await expectedOfIntent(context, signed.sent)) ?? matchingSpec(context, matching);
  }
  const marked = markedForObject(context).filter((remote) => isMarkOf(ownerMarkOf(remote), owner));
  const ours = marked.filter((remote) => isCandidate(remote) && canBeOf(context, intent, remote));
  const markable = canBeMarked(object.spec["metadata"] as string | undefined, owner);
  if (ours.length > 0 || markable || !signed) return oldestOf(context, ours);
  return matching(await expectedOf(context));
}

/**
 * Whether a remote with this object's mark was made by this create. One that is older than the intent was left by an
 * earlier object of the same name. One that is younger than the object counts as well, because the intent may come from
 * a backup. The API server dates the object's creation, and its clock may differ from that of the service. So this does
 * not justify taking a remote whose value is shown once: it would be deleted, since nobody has the value.
 */
function canBeOf(
  { object, account, kind }: ReconcileContext,
  intent: Intent,
  { created_at: createdAt }: Remote,
): boolean {
  if (createdAt === undefined) return true;
  if (intent.signed && mayHaveCreated(intent, createdAt, account.deadlineMs)) return true;
  return !(intent.signed && kind.output?.shownOnce) && wasCreatedInLifetimeOf(object, createdAt);
}

/** If the status was lost, the remote may have been updated to a later spec since its creation. */
const matchingSpec = async (
  context: ReconcileContext,
  matching: (expected: Expected) => Remote | undefined,
): Promise<Remote | undefined> => (isDeleting(context.object) ? undefined : matching(await expectedOf(context)));

/**
 * Fields that the spec leaves open must be unset in the remote, except for values that the service chooses. Members
 * that only an update sends are not set yet, so they are not compared.
 */
function isAsExpected({ kind }: ReconcileContext, { body, fields }: Expected, remote: Remote): boolean {
  const found = differences(kind.spec, body, fromAnswer(kind.spec, remote), fields);
  return found
    .filter(({ member }) => kind.resource.create.includes(member))
    .every(({ member, how }) => how === "frozen" && body[member] === undefined);
}
