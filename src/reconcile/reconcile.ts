import { LONG_PAUSE_MS, LONG_WAIT_MS } from "../account/requests/request-budget.ts";
import { type GatewayError, isGatewayError } from "../gateway/errors.ts";
import type { Remote } from "../gateway/resource.ts";
import { isSameStatus } from "../objects/conditions.ts";
import { createContinued, updateUnsettled } from "../objects/errors/change.ts";
import { pausedUntil } from "../objects/errors/service.ts";
import { reconcileErrorOf } from "../objects/map-error.ts";
import {
  conditionOf,
  hasFinalizer,
  hasOnlyObserved,
  isAsSpecified,
  isDeleting,
  isObserveOnly,
  isPaused,
  isPending,
  isReleased,
  type ManagedObject,
} from "../objects/object.ts";
import { leavesItsRemote } from "../objects/origin.ts";
import { Outdated, Postponed, type ReconcileError } from "../objects/reconcile-error.ts";
import { areSameVersions, unsentSecrets } from "../objects/secret-versions.ts";
import type { Result } from "../runtime/controller/controller.ts";
import { answerFieldsOf } from "../schema/common.ts";
import { type KindCondition, listOf } from "../schema/define.ts";
import { fromAnswer } from "../schema/wire/answer.ts";
import { fieldsIn, withoutHidden } from "../schema/wire/applied.ts";
import { checkpointID, writeCheckpoint } from "./apply/checkpoint.ts";
import { create } from "./apply/create.ts";
import { deleteObject } from "./apply/delete.ts";
import { recordHandedOverModules } from "./apply/modules/release-modules.ts";
import { ensureOutputSecret, keepOutputSecret } from "./apply/output-secret.ts";
import { noteAsked, noteRefusedRequest, uselessCreate } from "./apply/refused-request.ts";
import { deleteReplaced, replace } from "./apply/replace.ts";
import { update } from "./apply/update.ts";
import {
  accountOf,
  appliedOf,
  appliedSecretsOf,
  ensureAccountKnown,
  epochMs,
  forgetOrigin,
  has,
  msUntilSettled,
  type ReconcileContext,
  readRemote,
  refuseUnsettled,
  retiringOf,
  serviceEpochMs,
} from "./context.ts";
import { isHandedOver, releaseMessage } from "./decide/handover.ts";
import { appliedFields, type Desired, resolveDesired, resolveWithoutSecrets } from "./desired/desired.ts";
import { plan, specFields } from "./desired/plan.ts";
import { refuseUnsendable } from "./desired/sendable.ts";
import { type DNSOutcome, followDNS } from "./dns/follow.ts";
import { keepRecordsInTime, withdrawnRecords } from "./dns/withdraw.ts";
import { hasOutput, hasRecords, hasSharedLists, isOfModules } from "./features.ts";
import { findRemote } from "./find/find.ts";
import { findInFormerAccount, isInFormerAccount } from "./find/former-account.ts";
import { forgetDroppedModules, noteModuleOrigins } from "./find/module-origins.ts";
import { forgetCopiedOwner, noteOwner } from "./find/recorded-owner.ts";
import { type RequeueOptions, resultOf } from "./requeue.ts";
import { eventsOf } from "./status/events.ts";
import { assessReadiness, assessUnfinished } from "./status/readiness.ts";
import { attributeToSecrets } from "./status/refused-secrets.ts";
import { nextStatus, type Outcome } from "./status/report.ts";
import { inputsOf, recordFailure, recordSuccess, refuseFailedWait, refuseTooSoon } from "./too-soon.ts";
import { sharedAddress } from "./use/shared-address.ts";
import { leaveDroppedEntries } from "./use/sharing.ts";

/**
 * Brings the remote of one object to the object's spec, and reports the outcome in the status. The process may be
 * killed at any step. Each step can continue from what the previous process left (docs/architecture).
 */
export async function reconcile(context: ReconcileContext, options: RequeueOptions): Promise<Result> {
  try {
    return await attempt(context, options);
  } catch (error) {
    // This error does not reach the status: the object has changed meanwhile, or the status could not be written.
    return reconcileErrorOf(error) ? { backoff: true, error } : { stale: true };
  }
}

async function attempt(context: ReconcileContext, options: RequeueOptions): Promise<Result> {
  try {
    const outcome = await reconcileObject(context);
    if (outcome === "deleted") return {};
    await report(context, outcome);
    return resultOf(context, outcome, options);
  } catch (error) {
    if (!(error instanceof Postponed)) throw error;
    await reportWait(context);
    return { when: error.until };
  }
}

/**
 * Says in the status for what the object waits, once: for the end of a pause that the service has asked for, or, if nobody
 * has looked at it yet, for its turn among many. An object that is as specified has nothing to wait for: only its next
 * look at the account comes later.
 */
async function reportWait(context: ReconcileContext): Promise<void> {
  const { object, clock } = context;
  const budget = context.budget ? context.budget() : accountOf(context)?.turns.budget;
  if (!budget || isAsSpecified(object)) return;
  const { pauseEnd, waitMs, perMinute } = budget;
  if (pauseEnd && pauseEnd.getTime() - clock.date().getTime() >= LONG_PAUSE_MS) {
    await report(context, { type: "unfinished", error: pausedUntil({ end: pauseEnd.getTime() }) });
  } else if (!pauseEnd && waitMs >= LONG_WAIT_MS && isPending(object)) {
    const message = `Waiting for its turn, no action is needed: at most ${perMinute} requests are sent in a minute`;
    await report(context, { type: "queued", message });
  }
}

async function reconcileObject(context: ReconcileContext): Promise<Outcome | "deleted"> {
  if (isPaused(context.object)) return { type: "paused" };
  try {
    await keepInTime(context);
    if (isReleased(context.object) && !isDeleting(context.object))
      return { type: "released", message: releaseMessage(context), isHandedOver: isHandedOver(context) };
    refuseUnsendable(context.object);
    if (!isDeletedWithOrphanedAccount(context)) {
      refuseFailedWait(context);
      await refuseTooSoon(context);
    }
    if (isDeleting(context.object)) {
      await endObject(context);
      return "deleted";
    }
    if (isInFormerAccount(context)) await stayInFormerAccount(context);
    const settled = isObserveOnly(context.object) ? await observe(context) : await converge(context);
    const dns = await withRecords(context, settled);
    context.state.remote = dns.remote;
    context.state.sharedAddress = sharedAddress(context, dns.remote);
    const { readiness, conditions = [] } = assessReadiness(context, dns.remote);
    recordSuccess(context);
    return {
      type: "settled",
      readiness,
      conditions: [...conditions, ...dns.conditions],
      afterSeconds: dns.afterSeconds,
      unlisted: unlistedOf(context),
    };
  } catch (cause) {
    const error = attributeToSecrets(context, reconcileErrorOf(cause)) ?? (has(context, "Created") && continueCreate());
    if (!error) throw cause;
    recordFailure(context, error);
    noteRefusedRequest(context, error);
    return { type: "unfinished", error, judged: assessUnfinished(context), conditions: withdrawn(context) };
  }
}

async function endObject(context: ReconcileContext): Promise<void> {
  await deleteObject(context);
  // The memory of the object ends with it, and others that failed on its route may wait for this.
  recordSuccess(context);
  if (hasFinalizer(context.object)) await context.cluster.removeFinalizer(context.kind, context.object);
}

const withRecords = async (context: ReconcileContext, remote: Remote): Promise<DNSOutcome> =>
  hasRecords(context) ? followDNS(context, remote) : { remote, conditions: [] };

const withdrawn = (context: ReconcileContext): KindCondition[] =>
  hasRecords(context) ? withdrawnRecords(context) : [];

/** Why nobody sees what other clients change: the list fails. */
function unlistedOf({ kind, account }: ReconcileContext): ReconcileError | undefined {
  const resource = listOf(kind);
  return resource && account.listFailures.problemOf(resource);
}

/** With foreground deletion, Kubernetes deletes owned objects before their owner, so this has to come first. */
async function keepInTime(context: ReconcileContext): Promise<void> {
  if (!leavesItsRemote(context.object)) return;
  if (hasOutput(context)) await keepOutputSecret(context);
  if (hasRecords(context)) await keepRecordsInTime(context);
}

/** Whether the object is deleted without a request to the service, because its account is declared gone. */
const isDeletedWithOrphanedAccount = ({ object, cluster }: ReconcileContext): boolean =>
  isDeleting(object) && cluster.accounts.isAccountOrphaned(object);

/**
 * After a create, the status is written whatever was thrown. Otherwise the next reconcile would have to search for the
 * new remote.
 */
const continueCreate = (): ReconcileError => createContinued({});

/**
 * Writes the id into the status and changes nothing else. The next reconcile reports that the spec names another
 * account.
 */
async function stayInFormerAccount(context: ReconcileContext): Promise<never> {
  const remote = await findInFormerAccount(context);
  await ensureFinalizer(context);
  context.state.remote = remote;
  return checkpointID(context, "Continuing, no action is needed: the remote was created");
}

/** Compares the remote of an object that only observes it. Changes nothing in the account and reads no value of a Secret. */
async function observe(context: ReconcileContext): Promise<Remote> {
  const { kind, object, state, cluster } = context;
  const remote = await findRemote(context);
  await ensureAccountKnown(context);
  if (!remote) throw new TypeError(`${kind.kind} ${object.metadata.name} is only observed and was not found`);
  state.remote = remote;
  state.holds = false;
  // A remote that is only observed has no origin.
  forgetOrigin(context);
  const wanted = await resolveWithoutSecrets(kind, object, cluster);
  const { fields, frozen } = plan(kind, { wanted, seen: fromAnswer(kind.spec, remote), applied: [], renewed: [] });
  const differing = [...frozen, ...fields];
  if (differing.length > 0) {
    const message = `Change ${specFields(differing)} to match, or ignore it: the account has other values`;
    state.drift = { fields: differing, reason: "RemoteDiffers", message };
  }
  return remote;
}

async function converge(context: ReconcileContext): Promise<Remote> {
  const { state, kind } = context;
  if (hasOnlyObserved(context.object)) await forgetObserved(context);
  // Without a list, a look costs requests, so none is made while the spec cannot be carried out: that may last for ever.
  const early = listOf(kind) ? undefined : await resolve(context);
  const found = await findRemote(context);
  if (found) await ensureAccountKnown(context);
  if (has(context, "Recovered") || has(context, "Adopted")) state.next.appliedSecrets = [];
  // Don't record the id before the finalizer is set: a deletion would orphan the remote.
  if (found && hasFinalizer(context.object)) hold(context, found);
  const desired = early ?? (await resolve(context));
  const applied = appliedFields(kind, context.object.spec);
  let undeleted: GatewayError | undefined;
  state.inputs = () => inputsOf(desired);
  noteAsked(context, desired, found?.id);
  state.newSecrets = unsentSecrets(desired.secrets, appliedSecretsOf(context));
  if (found) {
    await ensureFinalizer(context);
    hold(context, found);
    noteUncertain(context, found, applied);
    undeleted = await tryDeleteReplaced(context, !isShownOnce(context));
    await noteParts(context, found);
  }
  // From here on the account may have these fields, even when an answer is lost.
  state.next.appliedFields = [...new Set([...appliedOf(context), ...applied])];
  const existing = found ?? (await create(context, desired));
  hold(context, existing);
  const current = await replaceIfExpiredOrLost(context, desired, existing);
  undeleted = await tryDeleteFormer(context, undeleted);
  const remote = await update(context, desired, current);
  state.remote = remote;
  await refuseWhileUncertain(context, remote);
  noteOwner(context, remote);
  noteApplied(context, desired, applied);
  if (undeleted) throw undeleted;
  return remote;
}

/** `wanted`: the fields of the spec. Call it before the remote is read again: only a later read proves anything. */
function noteUncertain(context: ReconcileContext, found: Remote, wanted: readonly string[]): void {
  const { object, record, state } = context;
  if (found.id !== object.status?.id) return;
  const fields = appliedOf(context).filter((field) => !wanted.includes(field));
  const isLate = record.hasLateUpdate(object) || isLastEditUnknown(object);
  if (fields.length > 0 && isLate) state.uncertain = { fields, waitMs: msUntilSettled(context) };
}

/** Whether an earlier edit may have been sent, perhaps by another process, and the status does not have its outcome. */
function isLastEditUnknown({ metadata, status }: ManagedObject): boolean {
  const { reason, observedGeneration = metadata.generation } = conditionOf(status, "Synced") ?? {};
  const isLastTried = observedGeneration >= metadata.generation - 1;
  return !isLastTried || (reason === "ServiceUnavailable" && observedGeneration < metadata.generation);
}

/**
 * Throws Waiting while a change that the spec has taken back could still arrive: if the remote was read meanwhile, an
 * update, or the deletion before a recreation. No list proves that the deletion has not arrived, so the remote is read.
 */
async function refuseWhileUncertain(context: ReconcileContext, { id }: Remote): Promise<void> {
  const { fields = [], waitMs = 0 } = context.state.uncertain ?? {};
  refuseUnsettled(waitMs, updateUnsettled, { what: `change of ${specFields(fieldsIn(fields))}` });
  if (context.object.status?.recreating !== id) return;
  refuseUnsettled(msUntilSettled(context), updateUnsettled, { what: "deletion" });
  if (!(await readRemote(context, id))) throw new Outdated(`${id} is gone`);
}

/** For a remote of which others may have a part: records what is theirs, before anything is sent. */
async function noteParts(context: ReconcileContext, found: Remote): Promise<void> {
  if (isOfModules(context)) {
    noteModuleOrigins(context, found);
    await recordHandedOverModules(context, found);
  }
  if (hasSharedLists(context)) leaveDroppedEntries(context);
}

function noteApplied(context: ReconcileContext, desired: Desired, fields: string[]): void {
  const { state, object } = context;
  if (object.status?.refusedRequest) state.next.refusedRequest = null;
  if (object.status?.recreating) state.next.recreating = "";
  const isDifferent = (field: string) => state.drift?.fields.includes(field) === true;
  // A dropped field that is reported as different was not cleared, so it stays this object's.
  const left = withoutHidden(appliedOf(context)).filter((path) => fieldsIn([path]).some(isDifferent));
  state.next.appliedFields = [...new Set([...fields, ...left])];
  if (isOfModules(context)) forgetDroppedModules(context, left);
  const known = state.next.appliedSecrets ?? appliedSecretsOf(context);
  if (!areSameVersions(desired.secrets, known)) state.next.appliedSecrets = desired.secrets;
  state.next.appliedDigest = desired.digest;
}

/**
 * Deletes what was replaced. A failure of the service is returned, to be thrown once the rest is done: an old remote must
 * not stop a renewal.
 */
async function tryDeleteReplaced(context: ReconcileContext, isValueStored: boolean): Promise<GatewayError | undefined> {
  if (retiringOf(context).length === 0) return undefined;
  try {
    await deleteReplaced(context, isValueStored);
    return undefined;
  } catch (error) {
    if (isGatewayError(error)) return error;
    throw error;
  }
}

/** Deletes what a value was shown of, once the Secret has the value of the present remote. */
async function tryDeleteFormer(
  context: ReconcileContext,
  undeleted: GatewayError | undefined,
): Promise<GatewayError | undefined> {
  if (undeleted || !isShownOnce(context) || has(context, "Created")) return undeleted;
  return tryDeleteReplaced(context, true);
}

const isShownOnce = (context: ReconcileContext): boolean =>
  hasOutput(context) && context.kind.output.shownOnce === true;

const resolve = ({ kind, object, cluster }: ReconcileContext): Promise<Desired> =>
  resolveDesired(kind, object, cluster);

function hold(context: ReconcileContext, remote: Remote): void {
  context.state.remote = remote;
  context.state.holds = true;
  forgetCopiedOwner(context, remote);
}

/**
 * Removes the observed remote from the status, and continues like an object that has none. So the object takes over
 * only the remote that its spec names, and only with the right to adopt.
 */
async function forgetObserved(context: ReconcileContext): Promise<void> {
  const { kind, object, accountName, specifiedAccountName } = context;
  const shown = [...Object.keys(answerFieldsOf(kind).shape), "account", "holds", "drift"];
  const kept = Object.entries(object.status ?? {}).filter(([field]) => !shown.includes(field));
  const isSame = await writeCheckpoint(context, Object.fromEntries(kept));
  if (!isSame || accountName !== specifiedAccountName) throw new Outdated("the object has changed, or its account");
}

async function ensureFinalizer(context: ReconcileContext): Promise<void> {
  if (hasFinalizer(context.object)) return;
  context.object = await context.cluster.annotate(context.kind, context.object, { finalizer: true });
}

/** Replaces a remote that expires soon, or whose value the service showed once and the Secret has lost. */
async function replaceIfExpiredOrLost(context: ReconcileContext, desired: Desired, remote: Remote): Promise<Remote> {
  if (!isRenewalDue(context, remote) && (!hasOutput(context) || (await ensureOutputSecret(context, remote))))
    return remote;
  const replacement = await replace(context, desired, remote);
  if (hasOutput(context)) await ensureOutputSecret(context, replacement);
  // The clock of the service, as its answers tell it, and the times that it sets do not agree.
  if (isRenewalDue(context, replacement))
    throw uselessCreate(
      context,
      replacement,
      "was created, and by the Date of the service's answers has to be renewed at once",
    );
  return replacement;
}

function isRenewalDue(context: ReconcileContext, remote: Remote): boolean {
  const renewsAt = context.kind.renewsAt(remote, context.object.spec);
  return renewsAt !== undefined && serviceEpochMs(context) >= renewsAt;
}

/**
 * Writes the status at most once, and not at all if it would stay the same. If the object was deleted meanwhile, a
 * request of this reconcile may have left a remote, which is cleaned up.
 */
async function report(context: ReconcileContext, outcome: Outcome): Promise<void> {
  const { object: before, cluster, kind, state } = context;
  // An object may have no account. Then its certificate is judged by the clock of this process.
  const serviceTime = accountOf(context)?.serviceTime.epochMs;
  const status = nextStatus(context, outcome, epochMs(context), serviceTime);
  state.reported = status;
  if (!isSameStatus(before.status, status) && !(await cluster.writeStatus(kind, before, status)) && state.sent)
    cluster.recordUnfinalized({ ...before, status });
  for (const event of eventsOf(before, status, context)) context.cluster.emit(before, event);
}
