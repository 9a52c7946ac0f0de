import type { Row } from "../../account/inventory.ts";
import { refuseHollowDeletion, refuseMassLoss } from "../../account/mass-loss-guard.ts";
import { covers, type Intent, intentOf, isOfLifeOf } from "../../objects/intent.ts";
import { asksForLook, isDeleting, isObserveOnly } from "../../objects/object.ts";
import { canBeMarked, ownerIn, ownerText } from "../../objects/ownership.ts";
import { Blocked, Waiting } from "../../objects/reconcile-error.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import { differences } from "../../schema/wire/compare.ts";
import type { Body } from "../../schema/wire/request.ts";
import { look, now, type Pass, remotesOf, sending } from "../context.ts";
import { type Wanted, wantedOf } from "../desired/wanted.ts";
import { first, hasSameKey, isFree, leftBehind } from "./by-owner-mark.ts";

/**
 * The remote of an object, whatever is left of what was known about it, or undefined where it has none and one may be
 * created. Throws Waiting while nobody can tell, and Blocked where there is one that is not ours to take.
 */
export async function find(pass: Pass): Promise<Row | undefined> {
  const { object } = pass;
  const intent = intentOf(object);
  const id = object.status?.id;
  if (id !== undefined) return id === intent?.old ? successor(pass, intent, id) : known(pass, id);
  // with an intent that names an old one, what was taken over has been replaced, or is about to be
  if (object.spec.adopt?.id && intent?.old === undefined) return adoptable(pass, object.spec.adopt.id);
  const found = object.spec.adopt?.existing || isObserveOnly(object) ? await existing(pass) : undefined;
  const own = found ?? (intent && (await begun(pass, intent)));
  // nothing is taken over to be deleted
  return own ?? (isDeleting(object) ? undefined : leftBehind(pass));
}

/** Nothing but the intent is left: what the create made, or what it was to take the place of. */
async function begun(pass: Pass, intent: Intent): Promise<Row | undefined> {
  const made = pass.account.wasRefused(pass.object, intent) ? undefined : await recovered(pass, intent);
  if (intent.old === undefined || (made && !pass.kind.replacement)) return made;
  const old = await stillOurs(pass, intent.old);
  if (made && old) pass.findings.retiring = old.id;
  return made ?? old;
}

async function stillOurs(pass: Pass, id: string): Promise<Row | undefined> {
  const row = await remotesOf(pass).find(id, sending(pass), true);
  return row && isFree(pass, row) && !isForeign(pass, row) ? row : undefined;
}

/** A create was begun to take the place of this id, and no other id was written down since. */
async function successor(pass: Pass, intent: Intent, old: string): Promise<Row | undefined> {
  const made = pass.account.wasRefused(pass.object, intent) ? undefined : await recovered(pass, intent);
  if (!made) return known(pass, old);
  pass.findings.retiring = old;
  return made;
}

async function known(pass: Pass, id: string): Promise<Row | undefined> {
  refuseShared(pass, id);
  const row = await latest(pass, id);
  if (row) return refuseForeign(pass, row);
  pass.findings.gone = true;
  if (isDeleting(pass.object)) return undefined;
  if (isObserveOnly(pass.object) || pass.object.spec.driftPolicy === "Report") throw missing(pass, id);
  return undefined;
}

/** What changes by itself, as a certificate does while it is provisioned, is not known from the last list. */
export async function latest(pass: Pass, id: string): Promise<Row | undefined> {
  await refuseWrongAccount(pass, id);
  const row = await lastKnown(pass, id);
  // where it had been there, this takes another list
  if (!row) await refuseWrongAccount(pass, id);
  return row;
}

async function refuseWrongAccount(pass: Pass, id: string): Promise<void> {
  const remotes = remotesOf(pass);
  await remotes.listed(0, pass.lane);
  if (!remotes.isMissing(id)) return;
  if (isDeleting(pass.object)) refuseHollowDeletion(pass, false);
  else refuseMassLoss(pass);
}

async function lastKnown(pass: Pass, id: string): Promise<Row | undefined> {
  const remotes = remotesOf(pass);
  const known = remotes.known(id);
  const seconds = known && lookAgainAfter(pass, known);
  if (asksForLook(pass.object) || seconds === undefined || isDeleting(pass.object)) {
    return look(pass, id, asksForLook(pass.object));
  }
  const alike = remotes.rows.filter((row) => lookAgainAfter(pass, row) !== undefined).length;
  return remotes.recent(id, pass.clock.now() - (seconds * 1000) / 2, alike, sending(pass));
}

const lookAgainAfter = (pass: Pass, row: Row): number | undefined =>
  pass.kind.judge(row, now(pass)).usability.afterSeconds;

/** Taken over because the spec names it. */
async function adoptable(pass: Pass, id: string): Promise<Row> {
  refuseShared(pass, id);
  const row = await remotesOf(pass).find(id, sending(pass), true);
  if (!row)
    throw new Blocked("RemoteMissing", `Correct spec.adopt.id: the account has no ${pass.kind.remote.title} ${id}`);
  pass.findings.adopted = true;
  return refuseForeign(pass, row);
}

/** Taken over because it has the same name. Observing needs one; adopting creates one where there is none. */
async function existing(pass: Pass): Promise<Row | undefined> {
  const { naturalKey, remote } = pass.kind;
  if (!naturalKey)
    throw new Blocked("RemoteMissing", `Set spec.adopt.id: a ${remote.title} can only be found by its id`);
  const row = await sameKey(pass, pass.clock.now());
  if (row) {
    refuseShared(pass, row.id);
    pass.findings.adopted = true;
    return refuseForeign(pass, row);
  }
  if (isObserveOnly(pass.object)) throw missing(pass, String(pass.object.spec[naturalKey]));
  return undefined;
}

/** The row with the natural key of the spec, from a list that began at `since` (monotonic milliseconds) or later. */
export async function sameKey(pass: Pass, since: number): Promise<Row | undefined> {
  if (!pass.kind.naturalKey) return undefined;
  const remotes = remotesOf(pass);
  await remotes.listed(since, "retry");
  return remotes.rows.find((row) => hasSameKey(pass, row));
}

type Search = (rows: readonly Row[]) => Row | undefined | Promise<Row | undefined>;

/**
 * A create was sent, or may have been, and its answer never arrived here: looks for what it made. What is there counts
 * at once; that nothing is there counts only when the create can no longer be under way.
 */
export async function recovered(
  pass: Pass,
  intent: Intent,
  search: Search = (rows) => madeByUs(pass, intent, rows),
): Promise<Row | undefined> {
  const wait = pass.account.settling.wait(pass.object, intent);
  // the list must have begun after the create was sent; when it is settled already, one from after that will do
  const since = wait > 0 ? pass.clock.now() : pass.clock.now() + wait;
  const remotes = remotesOf(pass);
  await remotes.listed(since, "retry");
  const made = await search(remotes.rows);
  if (made) {
    pass.findings.recovered = true;
    if (intent.fields) pass.findings.sentFields = intent.fields;
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
const canBeOf = ({ object, account }: Pass, intent: Intent, { created_at: createdAt }: Row): boolean =>
  createdAt === undefined || covers(intent, createdAt, account.deadlineMs) || isOfLifeOf(object, createdAt);

async function madeByUs(pass: Pass, intent: Intent, rows: readonly Row[]): Promise<Row | undefined> {
  const { kind, object, owner, account } = pass;
  const free = (row: Row) => row.id !== intent.old && isFree(pass, row);
  const within = (row: Row) => covers(intent, row["created_at"], account.deadlineMs) && ownerIn(row) === undefined;
  if (kind.naturalKey) {
    const row = await sameKey(pass, 0);
    if (!row || !free(row)) return undefined;
    return ownerIn(row) === ownerText(owner) || within(row) ? row : undefined;
  }
  const like = (wanted: Wanted) => {
    const alike = rows.filter((one) => free(one) && within(one) && isAsWanted(pass, wanted, one));
    const row = first(pass, alike);
    // nothing in it tells whose it is, and another object may be looking for the same
    if (row) account.reserve(row.id, object);
    return row;
  };
  if (intent.sent) return like(wantedBy(intent.sent, kind)) ?? updatedSince(pass, like);
  const marked = remotesOf(pass).ownedBy(ownerText(owner));
  const ours = marked.filter((row) => free(row) && canBeOf(pass, intent, row));
  const markable = canBeMarked(object.spec["metadata"] as string | undefined, owner);
  if (ours.length > 0 || markable) return first(pass, ours);
  return like(await wantedOf(pass));
}

/** Where it is the status that was lost, the remote may have been updated since it was made. */
const updatedSince = async (pass: Pass, like: (wanted: Wanted) => Row | undefined): Promise<Row | undefined> =>
  isDeleting(pass.object) ? undefined : like(await wantedOf(pass));

const wantedBy = (body: Body, { spec }: Pass["kind"]): Wanted => ({ body, fields: Object.keys(spec.shape) });

/**
 * What the spec leaves open must be unset as well, but for what the service chooses itself when it creates, and what
 * only an update sends is not there yet.
 */
function isAsWanted({ kind }: Pass, { body, fields }: Wanted, row: Row): boolean {
  const found = differences(kind.spec, body, fromAnswer(kind.spec, row), fields);
  return found
    .filter(({ member }) => kind.remote.create.includes(member))
    .every(({ member, how }) => how === "frozen" && body[member] === undefined);
}

/** Two objects must not steer one remote: the one that has had it longer keeps it. */
function refuseShared({ cluster, kind, object }: Pass, id: string): void {
  const [other] = cluster.othersWithID(kind, id, object);
  if (!other || (object.status?.id === id && isOlder(object, other))) return;
  const { namespace, name } = other.metadata;
  throw new Blocked(
    "OwnershipConflict",
    `Delete this object or ${kind.kind} ${namespace}/${name}: both stand for ${id}`,
  );
}

function isOlder(one: Pass["object"], other: Pass["object"]): boolean {
  const age = ({ metadata }: Pass["object"]) => `${metadata.creationTimestamp} ${metadata.uid}`;
  return age(one) <= age(other);
}

/** Whether somebody else has marked a remote of this object's meanwhile, as far as the account was last seen. */
export function isTaken(pass: Pass, id: string): boolean {
  const row = remotesOf(pass).known(id);
  return row !== undefined && isForeign(pass, row);
}

function isForeign({ owner }: Pass, row: Row): boolean {
  const other = ownerIn(row);
  return other !== undefined && other !== ownerText(owner);
}

/** What another cluster or object has marked as its own is never changed. */
export function refuseForeign(pass: Pass, row: Row): Row {
  const other = ownerIn(row);
  if (!isForeign(pass, row) || isObserveOnly(pass.object)) return row;
  throw new Blocked(
    "OwnershipConflict",
    `Remove the owner from the metadata of ${row.id} first: it belongs to ${other}`,
  );
}

export const missing = ({ kind }: Pass, what: string, cause?: Error): Blocked =>
  new Blocked(
    "RemoteMissing",
    `Create the ${kind.remote.title} ${what} in the account, or delete this object: it is not there`,
    cause && { cause },
  );
