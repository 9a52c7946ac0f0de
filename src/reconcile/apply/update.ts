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
  let needed = planFor(context, desired, found);
  if (isEmpty(needed)) return found;
  let remote = found;
  const drifted = isDrift(context, desired);
  if (drifted || sendsShared(context, needed)) {
    // a list may lag behind: somebody else's change is acted on only when it is certain, and not undone by accident
    remote = await readAgain(context, remote);
    needed = planFor(context, desired, remote);
  }
  if (isEmpty(needed) || reportedInstead(context, desired, needed, drifted)) return remote;
  const updated = canBeSent(context, needed) ? await applyPlan(context, needed, remote) : undefined;
  if (!updated) return withoutUpdate(context, desired, remote);
  remote = updated;
  context.changes.push({ type: "Updated", id: remote.id, fields: needed.fields, drifted });
  return checkAnswer(context, desired, remote, needed, drifted);
}

/** Where the service has no such update; what may be left undone is not planned now that this is known. */
async function withoutUpdate(context: ReconcileContext, desired: Desired, remote: Remote): Promise<Remote> {
  const needed = planFor(context, desired, remote);
  return isEmpty(needed) ? remote : replaceOrBlock(context, desired, remote, needed);
}

const sendsShared = ({ kind }: ReconcileContext, { body }: Plan): boolean =>
  sharedLists(kind.spec).some(({ member }) => member in body);

/** Whether the answer is as wanted. When it is not, the service may have its own idea of the value. */
function checkAnswer(
  context: ReconcileContext,
  desired: Desired,
  remote: Remote,
  sent: Plan,
  drifted: boolean,
): Remote {
  const applied = visible(appliedOf(context));
  const planned = planFor(context, { ...desired, secrets: [] }, remote, applied);
  // what cannot be removed was switched off, and that is as far as it goes
  const remaining = { ...planned, remove: planned.remove.filter((member) => !sent.remove.includes(member)) };
  const rounds = context.account.corrections.note(context.object, sent.fields, drifted || !isEmpty(remaining));
  if (isEmpty(remaining)) return remote;
  context.state.remote = remote;
  if (rounds >= ROUNDS) return reportDrift(context, remaining, "RemoteNormalises", remote);
  throw new Retry(
    "Updating",
    `Sending again: the service answered with other values for ${specFields(remaining.fields)}`,
  );
}

function planFor(context: ReconcileContext, desired: Desired, remote: Remote, applied = appliedOf(context)): Plan {
  const { kind, object } = context;
  const { body, secrets } = desired;
  const seen = fromAnswer(kind.spec, remote);
  const sent = context.state.appliedSecrets ?? object.status?.appliedSecrets;
  const renewed = renewedMembers(kind, object.spec, secrets, sent);
  if (mustBeMarked(context, remote, isDrift(context, desired))) renewed.push("metadata");
  const wanted = { ...body, ...ownedMetadata(context, body, remote, applied) };
  return plan(kind, { wanted, seen, applied, renewed, claims: claimsOf(context) });
}

/** The metadata to send: what the spec says, or what is there while the spec says nothing, with the owner's mark. */
function ownedMetadata(
  { kind, owner }: ReconcileContext,
  wanted: Body,
  remote: Remote,
  applied: readonly string[],
): Body {
  if (!kind.remote.update.includes("metadata") && !kind.remote.updateUndocumented.includes("metadata")) return {};
  const present = applied.includes("metadata") ? undefined : (remote["metadata"] as string | undefined);
  const text = (wanted["metadata"] as string | undefined) ?? present ?? undefined;
  const metadata = withOwnerMark(text, owner);
  return metadata === undefined ? {} : { metadata: metadata };
}

/**
 * What was taken over gets its mark with the first update, so that another cluster does not take it as well; what
 * somebody has taken the mark off gets it back, unless changes of others are only reported.
 */
function mustBeMarked(context: ReconcileContext, remote: Remote, drifted: boolean): boolean {
  const { object, owner, account, kind } = context;
  return (
    (has(context, "Adopted") || (drifted && object.spec.driftPolicy !== "Report")) &&
    account.supports(kind.remote, "update") &&
    ownerMarkOf(remote) === undefined &&
    canBeMarked((remote["metadata"] as string | null | undefined) ?? undefined, owner)
  );
}

/**
 * Everything this object asks for was in the account, and nothing was sent since: somebody else has changed it. Whether
 * the last look came to something does not matter, for an outage may have been in between.
 */
function isDrift(context: ReconcileContext, desired: Desired): boolean {
  const { status, metadata } = context.object;
  const seen = conditionOf(status, "Synced")?.observedGeneration === metadata.generation;
  return seen && status?.appliedDigest !== undefined && !hasNewValues(context, desired);
}

/** What the spec refers to has changed, so there is something to send that the account never had. */
function hasNewValues({ object }: ReconcileContext, { secrets, digest }: Desired): boolean {
  const { appliedSecrets: sent = [], appliedDigest = digest } = object.status ?? {};
  if (appliedDigest !== digest) return true;
  return !secrets.every((one) =>
    sent.some(({ name, resourceVersion }) => one.name === name && one.resourceVersion === resourceVersion),
  );
}

async function readAgain(context: ReconcileContext, { id }: Remote): Promise<Remote> {
  const remote = await getRemote(context, id, true);
  if (!remote) throw new Outdated(`${id} is gone`);
  return remote;
}

/** Whether a difference is told and not put right: the spec says so, or putting it right does not hold. */
function reportedInstead(context: ReconcileContext, desired: Desired, needed: Plan, drifted: boolean): boolean {
  const { object, account } = context;
  const reported = conditionOf(object.status, "Drifted");
  const fields = differingFields(needed);
  const normalises =
    reported?.reason === "RemoteNormalises" &&
    reported.observedGeneration === object.metadata.generation &&
    fields.every((field) => object.status?.drift?.includes(field));
  if (!hasNewValues(context, desired) && (normalises || account.corrections.rounds(object, fields) >= ROUNDS)) {
    reportDrift(context, needed, "RemoteNormalises");
    return true;
  }
  if (!drifted || object.spec.driftPolicy !== "Report") return false;
  reportDrift(context, needed, "RemoteDiffers");
  return true;
}

const differingFields = ({ frozen, fields }: Plan): string[] => [...frozen, ...fields];

function reportDrift<T>(
  { state }: ReconcileContext,
  plan: Plan,
  reason: "RemoteDiffers" | "RemoteNormalises",
  remote?: T,
): T {
  const fields = differingFields(plan);
  const message =
    reason === "RemoteDiffers"
      ? `Put ${specFields(fields)} right in the account, or set driftPolicy: Correct: somebody else has changed it`
      : `Write ${specFields(fields)} as the account has it: the service does not keep the value of the spec`;
  state.drift = { fields, reason, message };
  return remote as T;
}

/** What cannot be changed in place is replaced where that is safe or asked for, and else left serving. */
async function replaceOrBlock(
  context: ReconcileContext,
  desired: Desired,
  remote: Remote,
  needed: Plan,
): Promise<Remote> {
  const { kind, object, account } = context;
  if (kind.replacement === "CreateFirst")
    return checkReplacement(context, desired, await replace(context, desired, remote));
  if (object.spec.replacement !== "Recreate") throw blocked(context, needed);
  account.corrections.note(object, differingFields(needed), true);
  return update(context, desired, await recreate(context, desired, remote));
}

/** A new one that is not as wanted either would be replaced without end. */
function checkReplacement(context: ReconcileContext, desired: Desired, created: Remote): Remote {
  const remaining = planFor(context, { ...desired, secrets: [] }, created, visible(appliedOf(context)));
  return isEmpty(remaining) ? created : reportDrift(context, remaining, "RemoteNormalises", created);
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
async function applyPlan(
  context: ReconcileContext,
  { body, remove }: Plan,
  remote: Remote,
): Promise<Remote | undefined> {
  await checkpointUpdate(context);
  context.state.sent = true;
  let latest = remote;
  if (Object.keys(body).length > 0) {
    const updated = await sendUpdate(context, body, remote);
    if (!updated) return undefined;
    latest = updated;
  }
  for (const member of remove) {
    latest = await removeModule(context, member, latest);
  }
  return latest;
}

async function sendUpdate(context: ReconcileContext, body: Body, { id }: Remote): Promise<Remote | undefined> {
  const { kind, account } = context;
  const remotes = remotesOf(context);
  try {
    return await remotes.update(id, body, requestOptions(context));
  } catch (error) {
    if (isNotFound(error) && isMadeElsewhere(kind)) throw remoteMissing(context, id, error);
    const exists = isNotFound(error) && (await remotes.find(id, requestOptions(context), true)) !== undefined;
    if (isNotFound(error) && !exists) throw new Outdated(`${id} is gone`, { cause: error });
    if (!isUnsupported(error) && !exists) throw error;
    account.lacks(kind.remote, "update");
    return undefined;
  }
}

function canBeSent({ account, kind }: ReconcileContext, { body, frozen, undocumented }: Plan): boolean {
  if (frozen.length > 0) return false;
  if (Object.keys(body).length === 0) return true;
  return account.supports(kind.remote, "update") && (undocumented.length === 0 || account.triesUndocumented);
}
