import type { Find } from "../../account/remotes/remotes.ts";
import type { Remote } from "../../gateway/resource.ts";
import { type Intent, mayHaveCreated, wasCreatedInLifetimeOf } from "../../objects/intent.ts";
import { isDeleting } from "../../objects/object.ts";
import { originByTime, originOfMarked } from "../../objects/origin.ts";
import { canBeMarked, isMarkOf, ownerMarkOf } from "../../objects/ownership.ts";
import { Waiting } from "../../objects/reconcile-error.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import { differences } from "../../schema/wire/compare.ts";
import { type ReconcileContext, remotesOf, requestOptions, retire, retiringOf, serviceNow } from "../context.ts";
import { type Expected, expectedOf, expectedOfIntent } from "../desired/expected.ts";
import { hasNaturalKey } from "./by-natural-key.ts";
import { findByStatusID } from "./by-status-id.ts";
import { hasForeignMark, isUnclaimed, markedForObject, oldestOf } from "./conflicts.ts";
import { readUnlistedMarks } from "./unlisted-marks.ts";

/**
 * The status has no id, so only the intent tells of a create: the remote that the create made, or else the one that
 * the new remote was to replace. That one may have been adopted: then it is older than the first create of the object.
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
  return remote && isUnclaimed(context, remote) && !hasForeignMark(context, remote) ? remote : undefined;
}

/** A create was begun to replace the remote in the status, and the id of the new one may not have been written down. */
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
  if (context.account.isCreateRefused(context.object, intent)) return undefined;
  return findInterruptedCreate(context, intent);
}

/**
 * A create was sent, or may have been, and its answer was never seen. What a list shows counts at once. That lists show
 * nothing counts only if they began when the create could no longer be under way; until then this throws Waiting.
 */
export async function findInterruptedCreate(
  context: ReconcileContext,
  intent: Intent,
  find: Find = (all) => selectCreated(context, intent, all),
): Promise<Remote | undefined> {
  // The intent is dated by the service. A process that has just started learns its time from the first list.
  const isFirst = !context.account.serviceTime.isKnown;
  const early = isFirst ? await findSoFar(context, find) : undefined;
  const wait = context.account.createSettlement.remainingMs(context.object, intent, serviceNow(context));
  const created = early ?? (await findBySettlement(context, find, { wait, isListed: isFirst }));
  if (created) {
    context.changes.push({ type: "Recovered", id: created.id });
    context.state.origin = intent.signed ? "Created" : originOfMarked(context.object);
    if (intent.signed && intent.fields) context.state.sentFields = intent.fields;
    return created;
  }
  refuseUnsettled(wait);
  context.account.recordRefusedCreate(context.object, intent);
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

/** Looks once, in a list that begins now: the create may still be under way, so there is nothing to prove. */
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
 * Finds what the create made: by the owner mark. Where it was sent without one, by the natural key, else by all that
 * was sent, and in both cases by its time. An intent that nobody has signed is no reason to take what has no mark.
 */
async function selectCreated(
  context: ReconcileContext,
  intent: Intent,
  all: () => readonly Remote[],
): Promise<Remote | undefined> {
  const { kind, object, owner, account } = context;
  const signed = intent.signed ? intent : undefined;
  // What was replaced, and is still to be deleted, bears the mark too.
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
    // The name only proves that the remote exists. Where our create sent a mark, somebody else made it.
    return signed?.sent && isUnmarkedInTime(remote) ? remote : undefined;
  }
  const matching = (expected: Expected) => {
    const candidates = all().filter((one) => isCandidate(one) && isUnmarkedInTime(one));
    const remote = oldestOf(
      context,
      candidates.filter((one) => isAsExpected(context, expected, one)),
    );
    // Without a mark another object may be looking for an equal remote at the same time.
    if (remote) account.claim(remote.id, object);
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
 * A remote with this object's mark that is older than the intent was left by an earlier object of the same name. One that
 * is younger than the object counts as well: the intent may have come from a backup. The object's creation is dated by the
 * API server, whose clock may differ from that of the service. So this is no reason to take a remote whose value is shown
 * once: it would be deleted, since nobody has the value.
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

/** When it was the status that got lost, the remote may have been updated to a later spec since it was created. */
const matchingSpec = async (
  context: ReconcileContext,
  matching: (expected: Expected) => Remote | undefined,
): Promise<Remote | undefined> => (isDeleting(context.object) ? undefined : matching(await expectedOf(context)));

/**
 * Fields that the spec leaves open must be unset in the remote, except for values that the service chooses at creation.
 * Members that only an update sends are not there yet, so they are not compared.
 */
function isAsExpected({ kind }: ReconcileContext, { body, fields }: Expected, remote: Remote): boolean {
  const found = differences(kind.spec, body, fromAnswer(kind.spec, remote), fields);
  return found
    .filter(({ member }) => kind.resource.create.includes(member))
    .every(({ member, how }) => how === "frozen" && body[member] === undefined);
}
