import type { Find } from "../../../account/remotes/remotes.ts";
import type { Remote } from "../../../gateway/resource.ts";
import { createInterrupted } from "../../../objects/errors/change.ts";
import { hasNaturalKey, isNamedBySpec } from "../../../objects/identity.ts";
import { intentOf, isOwnCreate } from "../../../objects/intent.ts";
import { isMadeBy, isMarkOf, ownerMarkOf } from "../../../objects/ownership.ts";
import { refuse } from "../../../objects/reconcile-error.ts";
import {
  noteOrigin,
  type ReconcileContext,
  refuseUnsettled,
  remotesOf,
  requestOptions,
  retire,
  retiringOf,
} from "../../context.ts";
import { createdMs, isHeldByNoOther, markedForObject, newestOf, refuseUnreadable } from "../../decide/conflicts.ts";
import { readUnlistedMarks } from "../../decide/unlisted-marks.ts";
import { unseenHolder } from "../../unseen.ts";

// A create whose outcome the status does not have. What it made says so: its owner mark ends with the create.

/** The remote that was to replace the one in the status. */
export async function findSuccessor(
  context: ReconcileContext,
  create: string,
  id: string,
): Promise<Remote | undefined> {
  const created = await findCreated(context, create);
  if (created) retire(context, id);
  return created;
}

/** The remote that this create made. Undefined: it made none. */
export const findCreated = async (context: ReconcileContext, create: string): Promise<Remote | undefined> =>
  context.record.isCreateFutile(create) ? undefined : findInterruptedCreate(context, create);

/**
 * For a create that may have been sent and whose outcome was never seen. A remote that a list shows counts at once. That
 * lists show none counts only if they began when the create could no longer be under way. Until then this throws
 * Waiting. `settledAt`: since when it cannot be, in monotonic milliseconds.
 */
export async function findInterruptedCreate(
  context: ReconcileContext,
  create: string,
  { find, settledAt = context.record.settledAt }: { find?: Find; settledAt?: number } = {},
): Promise<Remote | undefined> {
  const created = await findSettled(context, find ?? ((all) => selectCreated(context, create, all)), settledAt);
  if (!created) {
    context.record.recordFutileCreate(create);
    return undefined;
  }
  if (!isNamedBySpec(context.kind)) refuse(unseenHolder(context, created.id, "OwnershipConflict"));
  context.changes.push({ type: "Recovered", id: created.id });
  noteOrigin(context, "Created", create);
  const { fields } = intentOf(context.object) ?? {};
  if (fields) context.state.sentFields = fields;
  return created;
}

/** Searches lists. Throws Waiting while they do not show the remote and an earlier create may still be under way. */
export async function findSettled(
  context: ReconcileContext,
  find: Find,
  settledAt: number,
): Promise<Remote | undefined> {
  const wait = settledAt - context.clock.now();
  if (wait <= 0) return remotesOf(context).search(settledAt, find, { ...requestOptions(context), lane: "retry" });
  const found = await findSoFar(context, find);
  // Also if the time has passed meanwhile: the list began before.
  if (!found) refuseUnsettled(wait, createInterrupted, {});
  return found;
}

/** Searches one list that begins now. The create may still be under way, so an empty result proves nothing. */
async function findSoFar(context: ReconcileContext, find: Find): Promise<Remote | undefined> {
  const remotes = remotesOf(context);
  await remotes.listed(context.clock.now(), { ...requestOptions(context), lane: "retry" });
  const found = await find(() => remotes.allCached());
  return found && (remotes.cached(found.id) ?? remotes.read(found.id, requestOptions(context)));
}

async function selectCreated(
  context: ReconcileContext,
  create: string,
  all: () => readonly Remote[],
): Promise<Remote | undefined> {
  const { object, owner, kind } = context;
  const former = [object.status?.id, ...retiringOf(context)];
  const present = object.status?.id === undefined ? undefined : remotesOf(context).cached(object.status.id);
  // An annotation that somebody has put back names the create of a remote that was replaced before.
  const isCandidate = (remote: Remote) =>
    !former.includes(remote.id) && !isOlder(remote, present) && isHeldByNoOther(context, remote);
  await readUnlistedMarks(
    context,
    all,
    (remote) =>
      isCandidate(remote) &&
      hasNaturalKey(context.kind, remote, context.object.spec) &&
      isYoungEnough(context, create, remote),
  );
  const ours = markedForObject(context).filter((remote) => isMarkOf(ownerMarkOf(remote), owner) && isCandidate(remote));
  // The value of what a restored object had was shown, so others may have it.
  const isTaken = kind.output?.shownOnce !== true || isOwnCreate(object, create);
  const made = ours.filter((remote) => isTaken && isMadeBy(remote, owner, create));
  if (made.length === 0) refuseUnreadable(context, (row) => isCandidate(row) && isMadeBy(row, owner, create));
  // Without a status, nobody knows what the create was to replace.
  const others = object.status?.id === undefined ? ours.filter((remote) => !made.includes(remote)) : [];
  return newestOf(context, made, others);
}

/** False if one of them does not say how old it is. */
const isOlder = (remote: Remote, than: Remote | undefined): boolean => createdMs(remote) < createdMs(than);

/** The largest expected difference between our clocks and that of the service. */
const SERVICE_SKEW_MS = 120_000;

/**
 * Where lists do not show whose remotes are, those are read one by one that are not older than the create and its object.
 * Only there does an age count.
 */
function isYoungEnough({ object }: ReconcileContext, create: string, remote: Remote): boolean {
  const at = createdMs(remote);
  const times = [create, object.metadata.creationTimestamp ?? ""].map((time) => Date.parse(time));
  return !times.every((time) => at < time - SERVICE_SKEW_MS);
}
