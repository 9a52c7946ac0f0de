import type { Remote } from "../gateway/resource.ts";
import { isSameStatus } from "../objects/conditions.ts";
import { reconcileErrorOf } from "../objects/map-error.ts";
import { isDeleting, isObserveOnly, isPaused, isReleased } from "../objects/object.ts";
import { Postponed, Retry } from "../objects/reconcile-error.ts";
import { areSameVersions } from "../objects/secret-versions.ts";
import type { Result } from "../runtime/controller/controller.ts";
import { FINALIZER } from "../schema/contract.ts";
import { readinessOf } from "../schema/readiness.ts";
import { fromAnswer } from "../schema/wire/answer.ts";
import { checkpointID } from "./apply/checkpoint.ts";
import { cleanIntent } from "./apply/clean-intent.ts";
import { create } from "./apply/create.ts";
import { deleteObject } from "./apply/delete.ts";
import { ensureOutputSecret, keepOutputSecret } from "./apply/output-secret.ts";
import { deleteReplaced, replace } from "./apply/replace.ts";
import { update } from "./apply/update.ts";
import { appliedOf, appliedSecretsOf, has, now, type ReconcileContext } from "./context.ts";
import { appliedFields, type Desired, resolveDesired, resolveWithoutSecrets } from "./desired/desired.ts";
import { plan, specFields } from "./desired/plan.ts";
import { followDNS } from "./dns/follow.ts";
import { findRemote } from "./find/find.ts";
import { findInFormerAccount, isInFormerAccount } from "./find/former-account.ts";
import { releaseMessage } from "./find/handover.ts";
import { type RequeueOptions, resultOf } from "./requeue.ts";
import { eventsOf } from "./status/events.ts";
import { nextStatus, type Outcome } from "./status/report.ts";
import { inputsOf, recordFailure, recordSuccess, refuseFailedWait, refuseTooSoon } from "./too-soon.ts";

/**
 * Brings the remote of one object to the object's spec, and reports the outcome in the status. The process may be
 * killed at any step: each step of the next reconcile finds what the one before it left (docs/architecture).
 */
export async function reconcile(context: ReconcileContext, options: RequeueOptions): Promise<Result> {
  try {
    const outcome = await reconcileObject(context);
    if (outcome === "deleted") return {};
    await report(context, outcome);
    return resultOf(context, outcome, options);
  } catch (error) {
    if (error instanceof Postponed) return { when: error.until };
    // Not in the status: the object has changed meanwhile, or it is the status that could not be written.
    return reconcileErrorOf(error) ? { backoff: true, error } : { stale: true };
  }
}

async function reconcileObject(context: ReconcileContext): Promise<Outcome | "deleted"> {
  if (isPaused(context.object)) return { type: "paused" };
  try {
    if (isReleased(context.object) && !isDeleting(context.object))
      return { type: "released", message: releaseMessage(context) };
    if (!isLetGo(context)) {
      refuseFailedWait(context);
      await refuseTooSoon(context);
    }
    if (isDeleting(context.object)) {
      await deleteObject(context);
      recordSuccess(context);
      return "deleted";
    }
    if (isInFormerAccount(context)) await stayInFormerAccount(context);
    const settled = isObserveOnly(context.object) ? await observe(context) : await converge(context);
    const dns = await followDNS(context, settled);
    context.state.remote = dns.remote;
    const { readiness, conditions = [] } = readinessOf(context.kind, dns.remote, context.object.spec, now(context));
    recordSuccess(context);
    return {
      type: "settled",
      readiness,
      conditions: [...conditions, ...dns.conditions],
      afterSeconds: dns.afterSeconds,
    };
  } catch (cause) {
    const error = reconcileErrorOf(cause) ?? (has(context, "Created") && continueCreate());
    if (!error) throw cause;
    recordFailure(context, error);
    return { type: "unfinished", error };
  }
}

/** Nothing is sent for the object any more: its account is gone for good. */
const isLetGo = ({ object, cluster }: ReconcileContext): boolean =>
  isDeleting(object) && cluster.isAccountLetGo(object);

/**
 * After a create, the status is written whatever was thrown: otherwise the new remote would have to be searched for.
 */
const continueCreate = (): Retry => new Retry("Creating", "Going on with what was created");

/** Writes the id down and changes nothing: the next reconcile says that the spec names another account. */
async function stayInFormerAccount(context: ReconcileContext): Promise<never> {
  const remote = await findInFormerAccount(context);
  await ensureFinalizer(context);
  context.state.remote = remote;
  return checkpointID(context, "Going on with what was created");
}

/** Compares the remote of an object that only observes it. Changes nothing in the account and reads no value of a Secret. */
async function observe(context: ReconcileContext): Promise<Remote> {
  const { kind, object, state, cluster } = context;
  const remote = await findRemote(context);
  if (!remote) throw new TypeError(`${kind.kind} ${object.metadata.name} is only observed and was not found`);
  state.remote = remote;
  await keepOutputSecret(context);
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
  await cleanIntent(context);
  const found = await findRemote(context);
  if (has(context, "Recovered") || has(context, "Adopted")) state.appliedSecrets = [];
  // Don't record the id before the finalizer is set: a deletion would orphan the remote.
  if (found && hasFinalizer(context)) state.remote = found;
  const desired = await resolveDesired(kind, context.object, context.cluster);
  state.inputs = inputsOf(desired);
  if (found) {
    await ensureFinalizer(context);
    state.remote = found;
    await deleteReplaced(context);
  }
  // From here on these fields may be in the account, even when an answer gets lost.
  const applied = appliedFields(kind, context.object.spec);
  state.appliedFields = [...new Set([...appliedOf(context), ...applied])];
  const existing = found ?? (await create(context, desired));
  state.remote = existing;
  const current = await replaceIfExpiredOrLost(context, desired, existing);
  const remote = await update(context, desired, current);
  state.remote = remote;
  state.appliedFields = applied;
  const known = state.appliedSecrets ?? appliedSecretsOf(context);
  if (!areSameVersions(desired.secrets, known)) state.appliedSecrets = desired.secrets;
  state.appliedDigest = desired.digest;
  return remote;
}

const hasFinalizer = ({ object }: ReconcileContext): boolean =>
  object.metadata.finalizers?.includes(FINALIZER) === true;

async function ensureFinalizer(context: ReconcileContext): Promise<void> {
  if (hasFinalizer(context)) return;
  context.object = await context.cluster.annotate(context.kind, context.object, { finalizer: true });
}

/** Replaces a remote that expires soon, or whose value the service showed once and the Secret has lost. */
async function replaceIfExpiredOrLost(context: ReconcileContext, desired: Desired, remote: Remote): Promise<Remote> {
  const renewsAt = context.kind.renewsAt(remote, context.object.spec);
  const expires = renewsAt !== undefined && now(context) >= renewsAt;
  if (!expires && (await ensureOutputSecret(context, remote))) return remote;
  const replacement = await replace(context, desired, remote);
  await ensureOutputSecret(context, replacement);
  return replacement;
}

/**
 * Writes the status once at most, and not at all when it would say the same. An object that has ended since something
 * was sent for it may have left a remote.
 */
async function report(context: ReconcileContext, outcome: Outcome): Promise<void> {
  const { object: before, cluster, kind, state } = context;
  const status = nextStatus(context, outcome, now(context));
  if (!isSameStatus(before.status, status) && !(await cluster.writeStatus(kind, before, status)) && state.sent)
    cluster.recordUnfinalized({ ...before, status });
  for (const event of eventsOf(before, status, context)) context.cluster.emit(before, event);
}
