import type { Row } from "../../account/inventory.ts";
import { isNotFound, isUnsupported } from "../../gateway/errors.ts";
import { isMadeElsewhere } from "../../objects/identity.ts";
import { conditionOf } from "../../objects/object.ts";
import { canBeMarked, ownerIn, withOwner } from "../../objects/ownership.ts";
import { Blocked, Outdated, Retry } from "../../objects/reconcile-error.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import { visible } from "../../schema/wire/applied.ts";
import type { Body } from "../../schema/wire/request.ts";
import { sharedLists } from "../../schema/wire/shared.ts";
import { appliedOf, look, type Pass, remotesOf, sending } from "../context.ts";
import type { Desired } from "../desired/desired.ts";
import { isEmpty, type Plan, plan, renewedMembers } from "../desired/plan.ts";
import { missing } from "../find/find.ts";
import { claimsOf } from "../find/sharing.ts";
import { announce } from "./checkpoint.ts";
import { removePart } from "./release-modules.ts";
import { recreate, replace } from "./replace.ts";

/** How often the same correction is made before it is clear that it does not hold. */
const ROUNDS = 3;

/** Brings a remote that exists to what its object says, and returns it as it is then. */
export async function update(pass: Pass, desired: Desired, found: Row): Promise<Row> {
  let next = planFor(pass, desired, found);
  if (isEmpty(next)) return found;
  let row = found;
  const drifted = isDrift(pass, desired);
  if (drifted || sendsShared(pass, next)) {
    // a list may lag behind: somebody else's change is acted on only when it is certain, and not undone by accident
    row = await fresh(pass, row);
    next = planFor(pass, desired, row);
  }
  if (isEmpty(next) || isLeft(pass, desired, next, drifted)) return row;
  const applied = isPossible(pass, next) ? await apply(pass, next, row) : undefined;
  if (!applied) return unchanged(pass, desired, row);
  row = applied;
  pass.findings.updated = next.fields;
  if (drifted) pass.findings.corrected = next.fields;
  return holds(pass, desired, row, next, drifted);
}

/** Where the service has no such update; what may be left undone is not planned now that this is known. */
async function unchanged(pass: Pass, desired: Desired, row: Row): Promise<Row> {
  const needed = planFor(pass, desired, row);
  return isEmpty(needed) ? row : otherwise(pass, desired, row, needed);
}

const sendsShared = ({ kind }: Pass, { body }: Plan): boolean =>
  sharedLists(kind.spec).some(({ member }) => member in body);

/** Whether the answer is as wanted. When it is not, the service may have its own idea of the value. */
function holds(pass: Pass, desired: Desired, row: Row, sent: Plan, drifted: boolean): Row {
  const applied = visible(appliedOf(pass));
  const planned = planFor(pass, { ...desired, secrets: [] }, row, applied);
  // what cannot be removed was switched off, and that is as far as it goes
  const left = { ...planned, remove: planned.remove.filter((member) => !sent.remove.includes(member)) };
  const rounds = pass.account.corrections.note(pass.object, sent.fields, drifted || !isEmpty(left));
  if (isEmpty(left)) return row;
  pass.findings.remote = row;
  if (rounds >= ROUNDS) return leave(pass, left, "RemoteNormalises", row);
  throw new Retry("Updating", `Sending again: the service answered with other values for ${names(left.fields)}`);
}

function planFor(pass: Pass, desired: Desired, row: Row, applied = appliedOf(pass)): Plan {
  const { kind, object } = pass;
  const { body, secrets } = desired;
  const seen = fromAnswer(kind.spec, row);
  const sent = pass.findings.appliedSecrets ?? object.status?.appliedSecrets;
  const renewed = renewedMembers(kind, object.spec, secrets, sent);
  if (mustBeMarked(pass, row, isDrift(pass, desired))) renewed.push("metadata");
  const wanted = { ...body, ...ownedMetadata(pass, body, row, applied) };
  return plan(kind, { wanted, seen, applied, renewed, claims: claimsOf(pass) });
}

/** The metadata to send: what the spec says, or what is there while the spec says nothing, with the owner's mark. */
function ownedMetadata({ kind, owner }: Pass, wanted: Body, row: Row, applied: readonly string[]): Body {
  if (!kind.remote.update.includes("metadata") && !kind.remote.updateUnshown.includes("metadata")) return {};
  const kept = applied.includes("metadata") ? undefined : (row["metadata"] as string | undefined);
  const text = (wanted["metadata"] as string | undefined) ?? kept ?? undefined;
  const marked = withOwner(text, owner);
  return marked === undefined ? {} : { metadata: marked };
}

/**
 * What was taken over gets its mark with the first update, so that another cluster does not take it as well; what
 * somebody has taken the mark off gets it back, unless changes of others are only reported.
 */
const mustBeMarked = ({ findings, object, owner, account, kind }: Pass, row: Row, drifted: boolean): boolean =>
  (findings.adopted === true || (drifted && object.spec.driftPolicy !== "Report")) &&
  account.supports(kind.remote, "update") &&
  ownerIn(row) === undefined &&
  canBeMarked((row["metadata"] as string | null | undefined) ?? undefined, owner);

/**
 * Everything this object asks for was in the account, and nothing was sent since: somebody else has changed it. Whether
 * the last look came to something does not matter, for an outage may have been in between.
 */
function isDrift(pass: Pass, desired: Desired): boolean {
  const { status, metadata } = pass.object;
  const seen = conditionOf(status, "Synced")?.observedGeneration === metadata.generation;
  return seen && status?.appliedDigest !== undefined && !hasNews(pass, desired);
}

/** What the spec refers to has changed, so there is something to send that the account never had. */
function hasNews({ object }: Pass, { secrets, digest }: Desired): boolean {
  const { appliedSecrets: sent = [], appliedDigest = digest } = object.status ?? {};
  if (appliedDigest !== digest) return true;
  return !secrets.every((one) =>
    sent.some(({ name, resourceVersion }) => one.name === name && one.resourceVersion === resourceVersion),
  );
}

async function fresh(pass: Pass, { id }: Row): Promise<Row> {
  const row = await look(pass, id, true);
  if (!row) throw new Outdated(`${id} is gone`);
  return row;
}

/** Whether a difference is told and not put right: the spec says so, or putting it right does not hold. */
function isLeft(pass: Pass, desired: Desired, next: Plan, drifted: boolean): boolean {
  const { object, account } = pass;
  const told = conditionOf(object.status, "Drifted");
  const fields = differing(next);
  const normalises =
    told?.reason === "RemoteNormalises" &&
    told.observedGeneration === object.metadata.generation &&
    fields.every((field) => object.status?.drift?.includes(field));
  if (!hasNews(pass, desired) && (normalises || account.corrections.rounds(object, fields) >= ROUNDS)) {
    leave(pass, next, "RemoteNormalises");
    return true;
  }
  if (!drifted || object.spec.driftPolicy !== "Report") return false;
  leave(pass, next, "RemoteDiffers");
  return true;
}

const differing = ({ frozen, fields }: Plan): string[] => [...frozen, ...fields];

function leave<T>({ findings }: Pass, plan: Plan, reason: "RemoteDiffers" | "RemoteNormalises", row?: T): T {
  const fields = differing(plan);
  const message =
    reason === "RemoteDiffers"
      ? `Put ${names(fields)} right in the account, or set driftPolicy: Correct: somebody else has changed it`
      : `Write ${names(fields)} as the account has it: the service does not keep the value of the spec`;
  findings.drift = { fields, reason, message };
  return row as T;
}

/** What cannot be changed in place is replaced where that is safe or asked for, and else left serving. */
async function otherwise(pass: Pass, desired: Desired, row: Row, next: Plan): Promise<Row> {
  const { kind, object, account } = pass;
  if (kind.replacement === "CreateFirst") return replaced(pass, desired, await replace(pass, desired, row));
  if (object.spec.replacement !== "Recreate") throw blocked(pass, next);
  account.corrections.note(object, differing(next), true);
  return update(pass, desired, await recreate(pass, desired, row));
}

/** A new one that is not as wanted either would be replaced without end. */
function replaced(pass: Pass, desired: Desired, made: Row): Row {
  const left = planFor(pass, { ...desired, secrets: [] }, made, visible(appliedOf(pass)));
  return isEmpty(left) ? made : leave(pass, left, "RemoteNormalises", made);
}

const blocked = (pass: Pass, { frozen, fields }: Plan): Blocked =>
  frozen.length > 0 ? immutable(pass, frozen) : unsupported(pass, fields);

const immutable = ({ kind }: Pass, frozen: readonly string[]): Blocked =>
  new Blocked(
    "ImmutableField",
    `Correct ${names(frozen)} or create a new object: a ${kind.remote.title} cannot change it, and the account has another value`,
  );

const unsupported = ({ kind }: Pass, fields: readonly string[]): Blocked =>
  new Blocked(
    "ReplacementRequired",
    `Delete and recreate this object to change ${names(fields)}: the service cannot update a ${kind.remote.title}`,
  );

/** Undefined when the service turns out not to have the operation. */
async function apply(pass: Pass, { body, remove }: Plan, row: Row): Promise<Row | undefined> {
  await announce(pass);
  pass.findings.sent = true;
  let current = row;
  if (Object.keys(body).length > 0) {
    const patched = await patch(pass, body, row);
    if (!patched) return undefined;
    current = patched;
  }
  for (const member of remove) {
    current = await removePart(pass, member, current);
  }
  return current;
}

async function patch(pass: Pass, body: Body, { id }: Row): Promise<Row | undefined> {
  const { kind, account } = pass;
  const remotes = remotesOf(pass);
  try {
    return await remotes.update(id, body, sending(pass));
  } catch (error) {
    if (isNotFound(error) && isMadeElsewhere(kind)) throw missing(pass, id, error);
    const there = isNotFound(error) && (await remotes.find(id, sending(pass), true)) !== undefined;
    if (isNotFound(error) && !there) throw new Outdated(`${id} is gone`, { cause: error });
    if (!isUnsupported(error) && !there) throw error;
    account.lacks(kind.remote, "update");
    return undefined;
  }
}

function isPossible({ account, kind }: Pass, { body, frozen, unshown }: Plan): boolean {
  if (frozen.length > 0) return false;
  if (Object.keys(body).length === 0) return true;
  return account.supports(kind.remote, "update") && (unshown.length === 0 || account.triesUnshown);
}

/** Fields as a reader finds them in the spec. */
const names = (fields: readonly string[]): string => fields.map((field) => `spec.${field}`).join(", ");
