import { isNotFound, isUnsupported } from "../../gateway/errors.ts";
import type { Remote } from "../../gateway/resource.ts";
import { isMadeElsewhere } from "../../objects/identity.ts";
import { conditionOf } from "../../objects/object.ts";
import { canBeMarked, ownerMarkOf, withOwnerMark } from "../../objects/ownership.ts";
import { Blocked, Outdated, Retry } from "../../objects/reconcile-error.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import { visible } from "../../schema/wire/applied.ts";
import type { Body } from "../../schema/wire/request.ts";
import { sharedLists } from "../../schema/wire/shared.ts";
import { appliedOf, getRemote, has, type ReconcileContext, remotesOf, requestOptions } from "../context.ts";
import type { Desired } from "../desired/desired.ts";
import { isEmpty, type Plan, plan, renewedMembers, specFields } from "../desired/plan.ts";
import { remoteMissing } from "../find/conflicts.ts";
import { claimsOf } from "../find/sharing.ts";
import { checkpointUpdate } from "./checkpoint.ts";
import { removeModule } from "./release-modules.ts";
import { recreate, replace } from "./replace.ts";

/** How often the same correction is made before it is clear that it does not hold. */
const ROUNDS = 3;

/** Brings a remote that exists to what its object says, and returns it as it is then. */
export async function update(context: ReconcileContext, desired: Desired, found: Remote): Promise<Remote> {
  let next = planFor(context, desired, found);
  if (isEmpty(next)) return found;
  let row = found;
  const drifted = isDrift(context, desired);
  if (drifted || sendsShared(context, next)) {
    // a list may lag behind: somebody else's change is acted on only when it is certain, and not undone by accident
    row = await fresh(context, row);
    next = planFor(context, desired, row);
  }
  if (isEmpty(next) || isLeft(context, desired, next, drifted)) return row;
  const applied = isPossible(context, next) ? await apply(context, next, row) : undefined;
  if (!applied) return unchanged(context, desired, row);
  row = applied;
  context.changes.push({ type: "Updated", id: row.id, fields: next.fields, drifted });
  return holds(context, desired, row, next, drifted);
}

/** Where the service has no such update; what may be left undone is not planned now that this is known. */
async function unchanged(context: ReconcileContext, desired: Desired, row: Remote): Promise<Remote> {
  const needed = planFor(context, desired, row);
  return isEmpty(needed) ? row : otherwise(context, desired, row, needed);
}

const sendsShared = ({ kind }: ReconcileContext, { body }: Plan): boolean =>
  sharedLists(kind.spec).some(({ member }) => member in body);

/** Whether the answer is as wanted. When it is not, the service may have its own idea of the value. */
function holds(context: ReconcileContext, desired: Desired, row: Remote, sent: Plan, drifted: boolean): Remote {
  const applied = visible(appliedOf(context));
  const planned = planFor(context, { ...desired, secrets: [] }, row, applied);
  // what cannot be removed was switched off, and that is as far as it goes
  const left = { ...planned, remove: planned.remove.filter((member) => !sent.remove.includes(member)) };
  const rounds = context.account.corrections.note(context.object, sent.fields, drifted || !isEmpty(left));
  if (isEmpty(left)) return row;
  context.state.remote = row;
  if (rounds >= ROUNDS) return leave(context, left, "RemoteNormalises", row);
  throw new Retry("Updating", `Sending again: the service answered with other values for ${specFields(left.fields)}`);
}

function planFor(context: ReconcileContext, desired: Desired, row: Remote, applied = appliedOf(context)): Plan {
  const { kind, object } = context;
  const { body, secrets } = desired;
  const seen = fromAnswer(kind.spec, row);
  const sent = context.state.appliedSecrets ?? object.status?.appliedSecrets;
  const renewed = renewedMembers(kind, object.spec, secrets, sent);
  if (mustBeMarked(context, row, isDrift(context, desired))) renewed.push("metadata");
  const wanted = { ...body, ...ownedMetadata(context, body, row, applied) };
  return plan(kind, { wanted, seen, applied, renewed, claims: claimsOf(context) });
}

/** The metadata to send: what the spec says, or what is there while the spec says nothing, with the owner's mark. */
function ownedMetadata({ kind, owner }: ReconcileContext, wanted: Body, row: Remote, applied: readonly string[]): Body {
  if (!kind.remote.update.includes("metadata") && !kind.remote.updateUndocumented.includes("metadata")) return {};
  const kept = applied.includes("metadata") ? undefined : (row["metadata"] as string | undefined);
  const text = (wanted["metadata"] as string | undefined) ?? kept ?? undefined;
  const marked = withOwnerMark(text, owner);
  return marked === undefined ? {} : { metadata: marked };
}

/**
 * What was taken over gets its mark with the first update, so that another cluster does not take it as well; what
 * somebody has taken the mark off gets it back, unless changes of others are only reported.
 */
function mustBeMarked(context: ReconcileContext, row: Remote, drifted: boolean): boolean {
  const { object, owner, account, kind } = context;
  return (
    (has(context, "Adopted") || (drifted && object.spec.driftPolicy !== "Report")) &&
    account.supports(kind.remote, "update") &&
    ownerMarkOf(row) === undefined &&
    canBeMarked((row["metadata"] as string | null | undefined) ?? undefined, owner)
  );
}

/**
 * Everything this object asks for was in the account, and nothing was sent since: somebody else has changed it. Whether
 * the last look came to something does not matter, for an outage may have been in between.
 */
function isDrift(context: ReconcileContext, desired: Desired): boolean {
  const { status, metadata } = context.object;
  const seen = conditionOf(status, "Synced")?.observedGeneration === metadata.generation;
  return seen && status?.appliedDigest !== undefined && !hasNews(context, desired);
}

/** What the spec refers to has changed, so there is something to send that the account never had. */
function hasNews({ object }: ReconcileContext, { secrets, digest }: Desired): boolean {
  const { appliedSecrets: sent = [], appliedDigest = digest } = object.status ?? {};
  if (appliedDigest !== digest) return true;
  return !secrets.every((one) =>
    sent.some(({ name, resourceVersion }) => one.name === name && one.resourceVersion === resourceVersion),
  );
}

async function fresh(context: ReconcileContext, { id }: Remote): Promise<Remote> {
  const row = await getRemote(context, id, true);
  if (!row) throw new Outdated(`${id} is gone`);
  return row;
}

/** Whether a difference is told and not put right: the spec says so, or putting it right does not hold. */
function isLeft(context: ReconcileContext, desired: Desired, next: Plan, drifted: boolean): boolean {
  const { object, account } = context;
  const told = conditionOf(object.status, "Drifted");
  const fields = differing(next);
  const normalises =
    told?.reason === "RemoteNormalises" &&
    told.observedGeneration === object.metadata.generation &&
    fields.every((field) => object.status?.drift?.includes(field));
  if (!hasNews(context, desired) && (normalises || account.corrections.rounds(object, fields) >= ROUNDS)) {
    leave(context, next, "RemoteNormalises");
    return true;
  }
  if (!drifted || object.spec.driftPolicy !== "Report") return false;
  leave(context, next, "RemoteDiffers");
  return true;
}

const differing = ({ frozen, fields }: Plan): string[] => [...frozen, ...fields];

function leave<T>({ state }: ReconcileContext, plan: Plan, reason: "RemoteDiffers" | "RemoteNormalises", row?: T): T {
  const fields = differing(plan);
  const message =
    reason === "RemoteDiffers"
      ? `Put ${specFields(fields)} right in the account, or set driftPolicy: Correct: somebody else has changed it`
      : `Write ${specFields(fields)} as the account has it: the service does not keep the value of the spec`;
  state.drift = { fields, reason, message };
  return row as T;
}

/** What cannot be changed in place is replaced where that is safe or asked for, and else left serving. */
async function otherwise(context: ReconcileContext, desired: Desired, row: Remote, next: Plan): Promise<Remote> {
  const { kind, object, account } = context;
  if (kind.replacement === "CreateFirst") return replaced(context, desired, await replace(context, desired, row));
  if (object.spec.replacement !== "Recreate") throw blocked(context, next);
  account.corrections.note(object, differing(next), true);
  return update(context, desired, await recreate(context, desired, row));
}

/** A new one that is not as wanted either would be replaced without end. */
function replaced(context: ReconcileContext, desired: Desired, made: Remote): Remote {
  const left = planFor(context, { ...desired, secrets: [] }, made, visible(appliedOf(context)));
  return isEmpty(left) ? made : leave(context, left, "RemoteNormalises", made);
}

const blocked = (context: ReconcileContext, { frozen, fields }: Plan): Blocked =>
  frozen.length > 0 ? immutable(context, frozen) : unsupported(context, fields);

const immutable = ({ kind }: ReconcileContext, frozen: readonly string[]): Blocked =>
  new Blocked(
    "ImmutableField",
    `Correct ${specFields(frozen)} or create a new object: a ${kind.remote.title} cannot change it, and the account has another value`,
  );

const unsupported = ({ kind }: ReconcileContext, fields: readonly string[]): Blocked =>
  new Blocked(
    "ReplacementRequired",
    `Delete and recreate this object to change ${specFields(fields)}: the service cannot update a ${kind.remote.title}`,
  );

/** Undefined when the service turns out not to have the operation. */
async function apply(context: ReconcileContext, { body, remove }: Plan, row: Remote): Promise<Remote | undefined> {
  await checkpointUpdate(context);
  context.state.sent = true;
  let current = row;
  if (Object.keys(body).length > 0) {
    const patched = await patch(context, body, row);
    if (!patched) return undefined;
    current = patched;
  }
  for (const member of remove) {
    current = await removeModule(context, member, current);
  }
  return current;
}

async function patch(context: ReconcileContext, body: Body, { id }: Remote): Promise<Remote | undefined> {
  const { kind, account } = context;
  const remotes = remotesOf(context);
  try {
    return await remotes.update(id, body, requestOptions(context));
  } catch (error) {
    if (isNotFound(error) && isMadeElsewhere(kind)) throw remoteMissing(context, id, error);
    const there = isNotFound(error) && (await remotes.find(id, requestOptions(context), true)) !== undefined;
    if (isNotFound(error) && !there) throw new Outdated(`${id} is gone`, { cause: error });
    if (!isUnsupported(error) && !there) throw error;
    account.lacks(kind.remote, "update");
    return undefined;
  }
}

function isPossible({ account, kind }: ReconcileContext, { body, frozen, undocumented }: Plan): boolean {
  if (frozen.length > 0) return false;
  if (Object.keys(body).length === 0) return true;
  return account.supports(kind.remote, "update") && (undocumented.length === 0 || account.triesUndocumented);
}
