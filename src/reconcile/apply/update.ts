import { type Remote, updateMembers } from "../../gateway/resource.ts";
import { answerDiffers, fieldImmutable, replacementRequired, updateRefused } from "../../objects/errors/change.ts";
import { conditionOf, type ManagedObject } from "../../objects/object.ts";
import {
  canBeMarked,
  hasOnlyMark,
  metadataOf,
  ownerMark,
  ownerMarkOf,
  parseMark,
  withOwnerMark,
} from "../../objects/ownership.ts";
import { Blocked, Outdated } from "../../objects/reconcile-error.ts";
import { unsentFields } from "../../objects/secret-versions.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import { withoutHidden } from "../../schema/wire/applied.ts";
import type { Body } from "../../schema/wire/request.ts";
import { type OthersEntriesByMember, sharedLists } from "../../schema/wire/shared.ts";
import {
  appliedOf,
  appliedSecretsOf,
  has,
  markFor,
  type ReconcileContext,
  readRemote,
  secondsUntilMark,
} from "../context.ts";
import { handoverSource } from "../decide/handover.ts";
import { ensureDeletable } from "../decide/may-delete.ts";
import { refuseNewForeignMark } from "../decide/unlisted-marks.ts";
import type { Desired } from "../desired/desired.ts";
import { isEmpty, type Plan, plan, renewedMembers, specFields } from "../desired/plan.ts";
import { hasSharedLists, isOfModules } from "../features.ts";
import { noteRefusedMark } from "../find/recorded-owner.ts";
import { droppedFrom, othersEntriesOf, refuseWhileEntriesLoseKind } from "../use/sharing.ts";
import { planOfMetadata } from "./metadata.ts";
import { withoutHandedOverModules } from "./modules/release-modules.ts";
import { refusedBefore, wasReplacementRequired } from "./refused-request.ts";
import { recreate, replace } from "./replace.ts";
import { sendPlan } from "./send-plan.ts";

/** After this many equal corrections, the service does not keep the value. */
const ROUNDS = 3;

/** Changes a remote until it matches its object, and returns the remote as the last answer shows it. */
export async function update(context: ReconcileContext, desired: Desired, known: Remote): Promise<Remote> {
  const remote = await bringToSpec(context, desired, known);
  if (keepsOnlyMark(context, desired.body, remote)) reportUnsentText(context, remote);
  // The service lacks the operation. The next process would try it again for the mark alone.
  if (context.account.operations.of(context.kind.resource, "update") !== "supported" && lacksMark(context, remote))
    noteRefusedMark(context, remote);
  return remote;
}

async function bringToSpec(context: ReconcileContext, desired: Desired, known: Remote): Promise<Remote> {
  const { record, object, state } = context;
  const isUncertain = record.hasUnansweredUpdate(object) || state.uncertain !== undefined;
  const found = isUncertain ? await readAgain(context, known) : known;
  let needed = planFor(context, desired, found);
  if (isEmpty(needed) && !hasStaleMark(context, found)) return found;
  let remote = found;
  const drifted = isDrift(context, desired, found);
  if (drifted || sendsShared(context, needed)) {
    // A list may lag behind. So a GET has to confirm a change by another client before it is corrected or overwritten.
    remote = await readAgain(context, remote);
    if (drifted) remote = await renewMark(context, desired, remote);
    needed = planFor(context, desired, remote);
  }
  if (isEmpty(needed)) return remote;
  const reason = reasonToReport(context, desired, needed, drifted);
  if (reason) {
    reportDrift(context, needed, reason);
    return remote;
  }
  const updated = await sendUnlessRefused(context, desired, needed, remote);
  if (updated instanceof Blocked) return withoutChange(context, desired, remote, needed, updated);
  if (!updated) return withoutUpdate(context, desired, remote);
  remote = updated;
  context.changes.push({ type: "Updated", id: remote.id, fields: needed.fields, drifted });
  return checkAnswer(context, desired, remote, needed, drifted);
}

/** Like `send`, unless an earlier process knows that the service refuses this, or lacks the operation. */
async function sendUnlessRefused(context: ReconcileContext, desired: Desired, needed: Plan, remote: Remote) {
  const refused = refusedBefore(context);
  if (!refused) return send(context, desired, needed, remote);
  return refused.reason === "ReplacementRequired" ? undefined : refused;
}

/** Like `sendPlan`, unless the remote is somebody else's by now, or entries of its shared lists would go that stay. */
async function send(context: ReconcileContext, desired: Desired, needed: Plan, remote: Remote) {
  await refuseNewForeignMark(context, remote.id);
  if (sendsShared(context, needed)) {
    await refuseWhileEntriesLoseKind(context);
    for (const { id, kind } of droppedFrom(context)) await ensureDeletable(context, { id, kind, way: "dropped" });
  }
  return sendPlan(context, desired, needed, remote);
}

/**
 * Writes the owner mark anew if it names a former id of the cluster, or another object, such as one that has ended or
 * hands the remote over. That corrects no drift, so it is also done if the spec says to report drift only, and it sends
 * nothing else of the spec.
 */
async function renewMark(context: ReconcileContext, desired: Desired, remote: Remote): Promise<Remote> {
  const isDue = has(context, "Adopted") ? takesMark(context, remote) : hasStaleMark(context, remote);
  if (!isDue) return remote;
  const { kind } = context;
  const metadata = withOwnerMark(metadataOf(remote), markFor(context, remote)) ?? "";
  const needed = planOfMetadata(kind, remote, metadata, othersEntries(context));
  const marked = await send(context, desired, needed, remote);
  if (marked instanceof Blocked) recordRefusedMark(context, remote);
  if (!marked || marked instanceof Blocked) return remote;
  context.changes.push({ type: "Updated", id: remote.id, fields: needed.fields, drifted: false });
  return marked;
}

/**
 * The service refuses the change. It may do so for the new owner mark that was sent along, and nobody has asked for
 * that. So the rest is sent again without it before anything is recreated or blamed on the spec.
 */
async function withoutChange(
  context: ReconcileContext,
  desired: Desired,
  remote: Remote,
  needed: Plan,
  refusal: Blocked,
): Promise<Remote> {
  if ("metadata" in needed.body && mayUpdateMetadata(context, remote) && changesMark(context, desired.body, remote)) {
    recordRefusedMark(context, remote);
    return update(context, desired, remote);
  }
  // The service refuses the update without the mark as well, so the mark may not be the cause.
  context.record.forgetRefusedMark();
  context.state.next.refusedMark = null;
  if (refusal.reason !== "UpdateUnsupported" || !mayBeRecreated(context)) throw refusal;
  return recreateInPlace(context, desired, remote, needed);
}

function recordRefusedMark(context: ReconcileContext, remote: Remote): void {
  context.record.recordRefusedMark(remote.id);
  noteRefusedMark(context, remote);
}

/**
 * A wrong value would be refused again after the remote is deleted, and somebody else could then take its name. So a
 * remote with a name is never deleted because of a refused value.
 */
const mayBeRecreated = ({ kind, object }: ReconcileContext): boolean =>
  object.spec.replacement === "Recreate" && kind.naturalKey === undefined;

/**
 * The service lacks the update operation. Plans again without it: some changes have another operation, and some may be
 * left undone.
 */
async function withoutUpdate(context: ReconcileContext, desired: Desired, remote: Remote): Promise<Remote> {
  const needed = planFor(context, desired, remote);
  return isEmpty(needed) ? remote : replaceOrBlock(context, desired, remote, needed);
}

const sendsShared = ({ kind }: ReconcileContext, { body }: Plan): boolean =>
  sharedLists(kind.spec).some(({ member }) => member in body);

/**
 * Throws Retry when the answer to an update differs from what was sent. After ROUNDS such answers, reports drift
 * instead. Counts the correction.
 */
function checkAnswer(
  context: ReconcileContext,
  desired: Desired,
  remote: Remote,
  sent: Plan,
  drifted: boolean,
): Remote {
  const planned = planAfterAnswer(context, desired, remote);
  // A module that the service cannot remove was disabled instead. No more can be done.
  const remaining = { ...planned, remove: planned.remove.filter((member) => !sent.remove.includes(member)) };
  const rounds = context.record.corrections.record(context.object, sent.fields, drifted || !isEmpty(remaining));
  if (isEmpty(remaining)) return remote;
  context.state.remote = remote;
  if (rounds < ROUNDS) throw answerDiffers({ fields: specFields(remaining.fields) });
  reportDrift(context, remaining, "RemoteNormalises");
  return remote;
}

/** What is left to change after an answer. No answer shows secrets, so those that were sent count as taken. */
const planAfterAnswer = (context: ReconcileContext, desired: Desired, answered: Remote): Plan =>
  planFor(context, { ...desired, secrets: [] }, answered, withoutHidden(appliedOf(context)));

function planFor(context: ReconcileContext, desired: Desired, remote: Remote, applied = appliedOf(context)): Plan {
  const { kind, object } = context;
  const { body, secrets } = desired;
  const seen = fromAnswer(kind.spec, remote);
  const unsent = unsentFields(secrets, context.state.next.appliedSecrets ?? appliedSecretsOf(context));
  const renewed = renewedMembers(kind, object.spec, unsent);
  if (mustBeMarked(context, remote, isDrift(context, desired, remote))) renewed.push("metadata");
  const wanted = { ...body, ...ownedMetadata(context, body, remote, applied) };
  const planned = plan(kind, { wanted, seen, applied, renewed, others: othersEntries(context) });
  return isOfModules(context) ? withoutHandedOverModules(context, planned, remote.id) : planned;
}

/** What other objects want of its shared lists. */
const othersEntries = (context: ReconcileContext): OthersEntriesByMember =>
  hasSharedLists(context) ? othersEntriesOf(context) : {};

/**
 * The metadata to send: that of the spec or, if the spec sets none, that of the remote, with the owner mark added. If the
 * service has refused the mark: with the one that the remote has.
 */
function ownedMetadata(context: ReconcileContext, wanted: Body, remote: Remote, applied: readonly string[]): Body {
  const { kind } = context;
  if (!updateMembers(kind.resource).includes("metadata")) return {};
  if (keepsOnlyMark(context, wanted, remote)) return { metadata: metadataOf(remote) };
  const unchanged = applied.includes("metadata") ? undefined : metadataOf(remote);
  const text = (wanted["metadata"] as string | undefined) ?? unchanged;
  const present = ownerMarkOf(remote);
  const isRefused = secondsUntilMark(context, remote.id) > 0;
  const mark = isRefused ? present && parseMark(present) : markFor(context, remote);
  const metadata = mark ? withOwnerMark(text, mark) : text;
  return metadata === undefined ? {} : { metadata };
}

/**
 * Whether the owner mark has to be written with the next update. An adopted remote gets it with its first update, so
 * that no other cluster adopts it as well. A mark that somebody has removed is restored, unless the spec says to report
 * drift only.
 */
function mustBeMarked(context: ReconcileContext, remote: Remote, drifted: boolean): boolean {
  const restored = drifted && context.object.spec.driftPolicy !== "Report" && ownerMarkOf(remote) === undefined;
  if (has(context, "Adopted") || restored) return takesMark(context, remote);
  return !drifted && hasStaleMark(context, remote);
}

/** Whether the remote has an owner mark that names something else than this object, and it can be written anew. */
const hasStaleMark = (context: ReconcileContext, remote: Remote): boolean =>
  ownerMarkOf(remote) !== undefined && takesMark(context, remote);

/** Whether the remote lacks the owner mark of this object, and it can be written. */
const takesMark = (context: ReconcileContext, remote: Remote): boolean =>
  lacksMark(context, remote) && mayUpdateMetadata(context, remote);

const mayUpdateMetadata = (context: ReconcileContext, remote: Remote): boolean =>
  takesMetadata(context) &&
  context.account.operations.mayTry(context.kind.resource, "update") &&
  secondsUntilMark(context, remote.id) === 0;

/** Whether an update may have metadata. */
const takesMetadata = ({ account, kind }: ReconcileContext): boolean =>
  (account.operations.triesUndocumented ? updateMembers(kind.resource) : kind.resource.update).includes("metadata");

const changesMark = (context: ReconcileContext, wanted: Body, remote: Remote): boolean =>
  lacksMark(context, remote) || dropsOnlyMark(context, wanted, remote);

/** Whether the remote has the owner mark alone, with which it was created, and the text of the spec has no room for it. */
const dropsOnlyMark = (context: ReconcileContext, { metadata }: Body, remote: Remote): boolean =>
  metadata !== undefined &&
  hasOnlyMark(remote, context.owner) &&
  !canBeMarked(metadata as string, markFor(context, remote));

/** Whether the remote stays so, since the service does not take the text in an update. */
const keepsOnlyMark = (context: ReconcileContext, wanted: Body, remote: Remote): boolean =>
  dropsOnlyMark(context, wanted, remote) && !mayUpdateMetadata(context, remote);

function reportUnsentText(context: ReconcileContext, remote: Remote): void {
  const { state } = context;
  noteRefusedMark(context, remote);
  const message =
    "Write spec.metadata as a short JSON object, or leave it out: only an update can send other text, and the service does not take that";
  const fields = [...new Set([...(state.drift?.fields ?? []), "metadata"])];
  state.drift = { fields, reason: "RemoteNormalises", message };
}

/** Whether the remote lacks the owner mark of this object, and updates may have it. */
function lacksMark(context: ReconcileContext, remote: Remote): boolean {
  const mark = markFor(context, remote);
  return takesMetadata(context) && ownerMarkOf(remote) !== ownerMark(mark) && canBeMarked(metadataOf(remote), mark);
}

/**
 * Whether a difference is a change by another client: the account once matched the object, and the operator has sent
 * nothing since. Only the generation of `Synced` counts. Its status does not, since it is False after an outage. Or the
 * object has the remote from another one that had sent the same values, and drift is only reported.
 */
function isDrift(context: ReconcileContext, desired: Desired, { id }: Remote): boolean {
  if (hasNewValues(context, desired)) return false;
  const { status, metadata, spec } = context.object;
  const isSynced = conditionOf(status, "Synced")?.observedGeneration === metadata.generation;
  if (isSynced && status?.appliedDigest !== undefined) return true;
  return spec.driftPolicy === "Report" && isAsHandedOver(context, desired, id);
}

/** Whether the object takes the remote from another one, which has sent the same values. */
const isAsHandedOver = (context: ReconcileContext, { digest }: Desired, id: string): boolean =>
  handoverSource(context, id)?.status?.appliedDigest === digest;

/** Whether a reference, ConfigMap or Secret of the spec has a value now that was never sent. */
function hasNewValues(context: ReconcileContext, { secrets, digest }: Desired): boolean {
  const { appliedDigest = digest } = context.object.status ?? {};
  return appliedDigest !== digest || unsentFields(secrets, appliedSecretsOf(context)).length > 0;
}

async function readAgain(context: ReconcileContext, { id }: Remote): Promise<Remote> {
  const remote = await readRemote(context, id);
  if (!remote) throw new Outdated(`${id} is gone`);
  context.record.forgetUnansweredUpdate();
  return remote;
}

type DriftReason = "RemoteDiffers" | "RemoteNormalises";

/**
 * Why a difference is reported instead of corrected: the spec says so, or corrections do not last. Undefined: correct
 * it.
 */
function reasonToReport(
  context: ReconcileContext,
  desired: Desired,
  needed: Plan,
  drifted: boolean,
): DriftReason | undefined {
  const { object, record } = context;
  const reported = conditionOf(object.status, "Drifted");
  const fields = differingFields(needed);
  const known = object.status?.drift?.filter((field) => !wasTextRefused(object, field)) ?? [];
  const normalises =
    reported?.reason === "RemoteNormalises" &&
    reported.observedGeneration === object.metadata.generation &&
    fields.length === known.length &&
    fields.every((field) => known.includes(field));
  const gaveUp = normalises || record.corrections.count(object, fields) >= ROUNDS;
  if (gaveUp && !hasNewValues(context, desired)) return "RemoteNormalises";
  return drifted && object.spec.driftPolicy === "Report" ? "RemoteDiffers" : undefined;
}

/** Whether the status says that the service refused the text of the spec. That is tried again, less and less often. */
const wasTextRefused = ({ status }: ManagedObject, field: string): boolean =>
  field === "metadata" && status?.refusedMark !== undefined;

const differingFields = ({ frozen, fields }: Plan): string[] => [...frozen, ...fields];

function reportDrift({ state }: ReconcileContext, plan: Plan, reason: DriftReason): void {
  const fields = differingFields(plan);
  const message =
    reason === "RemoteDiffers"
      ? `Put ${specFields(fields)} right in the account, or set driftPolicy: Correct: somebody else has changed it`
      : `Write ${specFields(fields)} as the account has it: the service does not keep the value of the spec`;
  state.drift = { fields, reason, message };
}

/**
 * For a remote that cannot be changed in place: replaces it if that is safe or the spec allows it, and blocks
 * otherwise.
 */
async function replaceOrBlock(
  context: ReconcileContext,
  desired: Desired,
  remote: Remote,
  needed: Plan,
): Promise<Remote> {
  const { kind, object } = context;
  refuseUntilUnsupported(context, needed);
  if (kind.replacement === "CreateFirst")
    return checkReplacement(context, desired, await replace(context, desired, remote));
  if (object.spec.replacement !== "Recreate") throw refusalToChange(context, needed);
  return recreateInPlace(context, desired, remote, needed);
}

async function recreateInPlace(
  context: ReconcileContext,
  desired: Desired,
  remote: Remote,
  needed: Plan,
): Promise<Remote> {
  context.record.corrections.record(context.object, differingFields(needed), true);
  return update(context, desired, await recreate(context, desired, remote));
}

/**
 * Throws Retry until it is certain that the service cannot update such a remote, so that it is not replaced too early.
 * A single refusal may come from a gateway in maintenance.
 */
function refuseUntilUnsupported(context: ReconcileContext, { frozen, undocumented }: Plan): void {
  const { kind, account } = context;
  if (frozen.length > 0 || (undocumented.length > 0 && !account.operations.triesUndocumented)) return;
  if (account.operations.of(kind.resource, "update") === "unsupported" || wasReplacementRequired(context)) return;
  const afterSeconds = Math.max(account.operations.secondsUntilTry(kind.resource, "update"), 1);
  throw updateRefused({ title: kind.resource.title }, { afterSeconds });
}

/**
 * When the new remote differs from the spec as well, it is kept and the drift is reported. Replacing it would never
 * end.
 */
function checkReplacement(context: ReconcileContext, desired: Desired, created: Remote): Remote {
  const remaining = planAfterAnswer(context, desired, created);
  if (!isEmpty(remaining)) reportDrift(context, remaining, "RemoteNormalises");
  return created;
}

function refusalToChange({ kind }: ReconcileContext, { frozen, fields }: Plan): Blocked {
  const { title } = kind.resource;
  return frozen.length > 0
    ? fieldImmutable({ fields: specFields(frozen), title })
    : replacementRequired({ fields: specFields(fields), title });
}
