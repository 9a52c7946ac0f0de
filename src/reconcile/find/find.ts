import type { Remote } from "../../account/inventory.ts";
import { covers, type Intent, intentOf, isOfLifeOf } from "../../objects/intent.ts";
import { asksForLook, isDeleting, isObserveOnly } from "../../objects/object.ts";
import { canBeMarked, ownerMark, ownerMarkOf } from "../../objects/ownership.ts";
import { Blocked, Waiting } from "../../objects/reconcile-error.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import { differences } from "../../schema/wire/compare.ts";
import type { Body } from "../../schema/wire/request.ts";
import { getRemote, now, type ReconcileContext, remotesOf, requestOptions } from "../context.ts";
import { type Expected, expectedOf } from "../desired/wanted.ts";
import { findByOwnerMark, hasSameKey, isUnclaimed, oldestOf } from "./by-owner-mark.ts";
import { refuseHollowDeletion, refuseMassLoss } from "./mass-loss.ts";

/**
 * The remote of an object, whatever is left of what was known about it, or undefined where it has none and one may be
 * created. Throws Waiting while nobody can tell, and Blocked where there is one that is not ours to take.
 */
export async function findByID(context: ReconcileContext): Promise<Remote | undefined> {
  const { object } = context;
  const intent = intentOf(object);
  const id = object.status?.id;
  if (id !== undefined) return id === intent?.old ? findSuccessor(context, intent, id) : findByStatusID(context, id);
  // with an intent that names an old one, what was taken over has been replaced, or is about to be
  if (object.spec.adopt?.id && intent?.old === undefined) return findAdopted(context, object.spec.adopt.id);
  const found = object.spec.adopt?.existing || isObserveOnly(object) ? await findExisting(context) : undefined;
  const own = found ?? (intent && (await findByIntent(context, intent)));
  // nothing is taken over to be deleted
  return own ?? (isDeleting(object) ? undefined : findByOwnerMark(context));
}

/** Nothing but the intent is left: what the create made, or what it was to take the place of. */
async function findByIntent(context: ReconcileContext, intent: Intent): Promise<Remote | undefined> {
  const made = context.account.wasRefused(context.object, intent)
    ? undefined
    : await findInterruptedCreate(context, intent);
  if (intent.old === undefined || (made && !context.kind.replacement)) return made;
  const old = await stillOurs(context, intent.old);
  if (made && old) context.state.retiring = old.id;
  return made ?? old;
}

async function stillOurs(context: ReconcileContext, id: string): Promise<Remote | undefined> {
  const row = await remotesOf(context).find(id, requestOptions(context), true);
  return row && isUnclaimed(context, row) && !isForeign(context, row) ? row : undefined;
}

/** A create was begun to take the place of this id, and no other id was written down since. */
async function findSuccessor(context: ReconcileContext, intent: Intent, old: string): Promise<Remote | undefined> {
  const made = context.account.wasRefused(context.object, intent)
    ? undefined
    : await findInterruptedCreate(context, intent);
  if (!made) return findByStatusID(context, old);
  context.state.retiring = old;
  return made;
}

async function findByStatusID(context: ReconcileContext, id: string): Promise<Remote | undefined> {
  refuseShared(context, id);
  const row = await getFromRightAccount(context, id);
  if (row) return refuseForeign(context, row);
  context.changes.push({ type: "Missing", id });
  if (isDeleting(context.object)) return undefined;
  if (isObserveOnly(context.object) || context.object.spec.driftPolicy === "Report") throw remoteMissing(context, id);
  return undefined;
}

/** What changes by itself, as a certificate does while it is provisioned, is not known from the last list. */
export async function getFromRightAccount(context: ReconcileContext, id: string): Promise<Remote | undefined> {
  await refuseWrongAccount(context, id);
  const row = await getUpToDate(context, id);
  // where it had been there, this takes another list
  if (!row) await refuseWrongAccount(context, id);
  return row;
}

async function refuseWrongAccount(context: ReconcileContext, id: string): Promise<void> {
  const remotes = remotesOf(context);
  await remotes.listed(0, context.lane);
  if (!remotes.isMissing(id)) return;
  if (isDeleting(context.object)) refuseHollowDeletion(context, false);
  else refuseMassLoss(context);
}

async function getUpToDate(context: ReconcileContext, id: string): Promise<Remote | undefined> {
  const remotes = remotesOf(context);
  const known = remotes.known(id);
  const seconds = known && pollSeconds(context, known);
  if (asksForLook(context.object) || seconds === undefined || isDeleting(context.object)) {
    return getRemote(context, id, asksForLook(context.object));
  }
  const alike = remotes.rows.filter((row) => pollSeconds(context, row) !== undefined).length;
  return remotes.recent(id, context.clock.now() - (seconds * 1000) / 2, alike, requestOptions(context));
}

const pollSeconds = (context: ReconcileContext, row: Remote): number | undefined =>
  context.kind.readiness(row, now(context)).readiness.afterSeconds;

/** Taken over because the spec names it. */
async function findAdopted(context: ReconcileContext, id: string): Promise<Remote> {
  refuseShared(context, id);
  const row = await remotesOf(context).find(id, requestOptions(context), true);
  if (!row)
    throw new Blocked("RemoteMissing", `Correct spec.adopt.id: the account has no ${context.kind.remote.title} ${id}`);
  return adopted(context, row);
}

function adopted(context: ReconcileContext, row: Remote): Remote {
  refuseForeign(context, row);
  context.changes.push({ type: "Adopted", id: row.id });
  return row;
}

/** Taken over because it has the same name. Observing needs one; adopting creates one where there is none. */
async function findExisting(context: ReconcileContext): Promise<Remote | undefined> {
  const { naturalKey, remote } = context.kind;
  if (!naturalKey)
    throw new Blocked("RemoteMissing", `Set spec.adopt.id: a ${remote.title} can only be found by its id`);
  const row = await findByNaturalKey(context, context.clock.now());
  if (row) {
    refuseShared(context, row.id);
    return adopted(context, row);
  }
  if (isObserveOnly(context.object)) throw remoteMissing(context, String(context.object.spec[naturalKey]));
  return undefined;
}

/** The row with the natural key of the spec, from a list that began at `since` (monotonic milliseconds) or later. */
export async function findByNaturalKey(context: ReconcileContext, since: number): Promise<Remote | undefined> {
  if (!context.kind.naturalKey) return undefined;
  const remotes = remotesOf(context);
  await remotes.listed(since, "retry");
  return remotes.rows.find((row) => hasSameKey(context, row));
}

type Search = (rows: readonly Remote[]) => Remote | undefined | Promise<Remote | undefined>;

/**
 * A create was sent, or may have been, and its answer never arrived here: looks for what it made. What is there counts
 * at once; that nothing is there counts only when the create can no longer be under way.
 */
export async function findInterruptedCreate(
  context: ReconcileContext,
  intent: Intent,
  search: Search = (rows) => selectCreated(context, intent, rows),
): Promise<Remote | undefined> {
  const wait = context.account.createSettlement.wait(context.object, intent);
  // the list must have begun after the create was sent; when it is settled already, one from after that will do
  const since = wait > 0 ? context.clock.now() : context.clock.now() + wait;
  const remotes = remotesOf(context);
  await remotes.listed(since, "retry");
  const made = await search(remotes.rows);
  if (made) {
    context.changes.push({ type: "Recovered", id: made.id });
    if (intent.fields) context.state.sentFields = intent.fields;
    return made;
  }
  refuseUnsettled(wait);
  return undefined;
}

/** Throws Waiting where an interrupted create may still be carried out, for so many milliseconds. */
export function refuseUnsettled(wait: number): void {
  if (wait <= 0) return;
  throw new Waiting("Creating", "Waiting until it is certain that an interrupted create came to nothing", {
    afterSeconds: wait / 1000 + 0.5,
  });
}

/**
 * What an object of this name had left before is not what this intent was for. The time of the intent is of a calendar
 * that may have been set wrong; that of the object is the API server's.
 */
const canBeOf = ({ object, account }: ReconcileContext, intent: Intent, { created_at: createdAt }: Remote): boolean =>
  createdAt === undefined || covers(intent, createdAt, account.deadlineMs) || isOfLifeOf(object, createdAt);

async function selectCreated(
  context: ReconcileContext,
  intent: Intent,
  rows: readonly Remote[],
): Promise<Remote | undefined> {
  const { kind, object, owner, account } = context;
  const free = (row: Remote) => row.id !== intent.old && isUnclaimed(context, row);
  const within = (row: Remote) =>
    covers(intent, row["created_at"], account.deadlineMs) && ownerMarkOf(row) === undefined;
  if (kind.naturalKey) {
    const row = await findByNaturalKey(context, 0);
    if (!row || !free(row)) return undefined;
    return ownerMarkOf(row) === ownerMark(owner) || within(row) ? row : undefined;
  }
  const like = (wanted: Expected) => {
    const alike = rows.filter((one) => free(one) && within(one) && isAsWanted(context, wanted, one));
    const row = oldestOf(context, alike);
    // nothing in it tells whose it is, and another object may be looking for the same
    if (row) account.reserve(row.id, object);
    return row;
  };
  if (intent.sent) return like(wantedBy(intent.sent, kind)) ?? updatedSince(context, like);
  const marked = remotesOf(context).ownedBy(ownerMark(owner));
  const ours = marked.filter((row) => free(row) && canBeOf(context, intent, row));
  const markable = canBeMarked(object.spec["metadata"] as string | undefined, owner);
  if (ours.length > 0 || markable) return oldestOf(context, ours);
  return like(await expectedOf(context));
}

/** Where it is the status that was lost, the remote may have been updated since it was made. */
const updatedSince = async (
  context: ReconcileContext,
  like: (wanted: Expected) => Remote | undefined,
): Promise<Remote | undefined> => (isDeleting(context.object) ? undefined : like(await expectedOf(context)));

const wantedBy = (body: Body, { spec }: ReconcileContext["kind"]): Expected => ({
  body,
  fields: Object.keys(spec.shape),
});

/**
 * What the spec leaves open must be unset as well, but for what the service chooses itself when it creates, and what
 * only an update sends is not there yet.
 */
function isAsWanted({ kind }: ReconcileContext, { body, fields }: Expected, row: Remote): boolean {
  const found = differences(kind.spec, body, fromAnswer(kind.spec, row), fields);
  return found
    .filter(({ member }) => kind.remote.create.includes(member))
    .every(({ member, how }) => how === "frozen" && body[member] === undefined);
}

/** Two objects must not steer one remote: the one that has had it longer keeps it. */
function refuseShared({ cluster, kind, object }: ReconcileContext, id: string): void {
  const [other] = cluster.othersWithRemoteID(kind, id, object);
  if (!other || (object.status?.id === id && isOlder(object, other))) return;
  const { namespace, name } = other.metadata;
  throw new Blocked(
    "OwnershipConflict",
    `Delete this object or ${kind.kind} ${namespace}/${name}: both stand for ${id}`,
  );
}

function isOlder(one: ReconcileContext["object"], other: ReconcileContext["object"]): boolean {
  const age = ({ metadata }: ReconcileContext["object"]) => `${metadata.creationTimestamp} ${metadata.uid}`;
  return age(one) <= age(other);
}

/** Whether somebody else has marked a remote of this object's meanwhile, as far as the account was last seen. */
export function hasForeignMark(context: ReconcileContext, id: string): boolean {
  const row = remotesOf(context).known(id);
  return row !== undefined && isForeign(context, row);
}

function isForeign({ owner }: ReconcileContext, row: Remote): boolean {
  const other = ownerMarkOf(row);
  return other !== undefined && other !== ownerMark(owner);
}

/** What another cluster or object has marked as its own is never changed. */
export function refuseForeign(context: ReconcileContext, row: Remote): Remote {
  const other = ownerMarkOf(row);
  if (!isForeign(context, row) || isObserveOnly(context.object)) return row;
  throw new Blocked(
    "OwnershipConflict",
    `Remove the owner from the metadata of ${row.id} first: it belongs to ${other}`,
  );
}

export const remoteMissing = ({ kind }: ReconcileContext, what: string, cause?: Error): Blocked =>
  new Blocked(
    "RemoteMissing",
    `Create the ${kind.remote.title} ${what} in the account, or delete this object: it is not there`,
    cause && { cause },
  );
