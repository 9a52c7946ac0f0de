import type { Remote } from "../gateway/resource.ts";
import { isSameStatus } from "../objects/conditions.ts";
import { reconcileErrorOf, retryAfterSeconds } from "../objects/map-error.ts";
import { conditionOf, isDeleting, isObserveOnly, isPaused } from "../objects/object.ts";
import { type ReconcileError, Retry } from "../objects/reconcile-error.ts";
import type { Result } from "../runtime/controller/controller.ts";
import { FINALIZER } from "../schema/contract.ts";
import { listOf } from "../schema/define.ts";
import { readinessOf } from "../schema/readiness.ts";
import { fromAnswer } from "../schema/wire/answer.ts";
import { needsOf } from "../schema/wire/needs.ts";
import { create } from "./apply/create.ts";
import { deleteObject } from "./apply/delete.ts";
import { ensureOutputSecret } from "./apply/output-secret.ts";
import { deleteReplaced, replace } from "./apply/replace.ts";
import { update } from "./apply/update.ts";
import { appliedOf, has, now, type ReconcileContext, retiringOf } from "./context.ts";
import { appliedFields, type Desired, resolveDesired, resolveWithoutSecrets } from "./desired/desired.ts";
import { plan, specFields } from "./desired/plan.ts";
import { findRemote } from "./find/find.ts";
import { eventsOf } from "./status/events.ts";
import { nextStatus, type Outcome } from "./status/report.ts";

/** How soon a remote that was just replaced is looked at. */
const RETIRING_SECONDS = 2;

export interface ReconcileOptions {
  /** How often what only a read can show is looked at again, such as a Secret that may not be watched. Seconds. */
  resyncSeconds: number;
  /** A watch tells of Secrets that come, change or go, so that one which is missing need not be asked for. */
  secretsWatched?: boolean;
}

/**
 * Brings the remote of one object to the object's spec, whatever state either is in, and tells the outcome in the
 * status. May be ended at any point and started anew: each step finds what the one before left (docs/architecture).
 */
export async function reconcile(context: ReconcileContext, options: ReconcileOptions): Promise<Result> {
  try {
    const outcome = await reconcileObject(context);
    if (outcome === "gone") return {};
    await report(context, outcome);
    return resultOf(context, outcome, options);
  } catch (error) {
    // the status could not be written; the next reconcile finds the same, and writes it
    return reconcileErrorOf(error) ? { backoff: true, error } : { stale: true };
  }
}

async function reconcileObject(context: ReconcileContext): Promise<Outcome | "gone"> {
  if (isPaused(context.object)) return { type: "paused" };
  try {
    if (!isDeleting(context.object)) return settled(context, await converge(context));
    await deleteObject(context);
    return "gone";
  } catch (cause) {
    const error = reconcileErrorOf(cause) ?? (has(context, "Created") && unfinishedCreate());
    if (!error) throw cause;
    return { type: "unfinished", error };
  }
}

/** An id that is not written down has to be sought, so it is told whatever comes after the create. */
const unfinishedCreate = (): Retry => new Retry("Creating", "Going on with what was created");

async function converge(context: ReconcileContext): Promise<Remote> {
  const { state, kind } = context;
  const found = await findRemote(context);
  // an object that has an id, and no finalizer, leaves its remote behind when it goes
  if (found && (isObserveOnly(context.object) || hasFinalizer(context.object))) state.remote = found;
  if (isObserveOnly(context.object)) return compared(context, found);
  const desired = await resolveDesired(kind, context.object, context.cluster);
  if (found) {
    await ensureFinalizer(context);
    state.remote = found;
    await deleteReplaced(context);
  }
  const applied = appliedFields(kind, context.object.spec);
  // sent from here on, whether the answer arrives or not
  state.appliedFields = [...new Set([...appliedOf(context), ...applied])];
  const made = found ?? (await create(context, desired));
  state.remote = made;
  state.remote = await update(context, desired, await current(context, desired, made));
  state.appliedFields = applied;
  state.appliedSecrets = desired.secrets;
  state.appliedDigest = desired.digest;
  return state.remote as Remote;
}

/** The remote to go on with: the one that was found, or a new one where it runs out or its one-time value is lost. */
async function current(context: ReconcileContext, desired: Desired, row: Remote): Promise<Remote> {
  const renewsAt = context.kind.renewsAt(row, context.object.spec);
  const due = renewsAt !== undefined && now(context) >= renewsAt;
  if (!due && (await ensureOutputSecret(context, row))) return row;
  const next = await replace(context, desired, row);
  await ensureOutputSecret(context, next);
  return next;
}

/** Only observed: what differs is shown, nothing is written, and no Secret is read. */
async function compared(context: ReconcileContext, found: Remote | undefined): Promise<Remote> {
  const { kind, object, state, cluster } = context;
  if (!found) throw new TypeError(`${kind.kind} ${object.metadata.name} is only observed and was not found`);
  const wanted = await resolveWithoutSecrets(kind, object, cluster);
  const { fields, frozen } = plan(kind, { wanted, seen: fromAnswer(kind.spec, found), applied: [], renewed: [] });
  const differing = [...frozen, ...fields];
  if (differing.length > 0) {
    const message = `Change ${specFields(differing)} to match, or ignore it: the account has other values`;
    state.drift = { fields: differing, reason: "RemoteDiffers", message };
  }
  return found;
}

const hasFinalizer = ({ metadata }: ReconcileContext["object"]): boolean =>
  metadata.finalizers?.includes(FINALIZER) === true;

async function ensureFinalizer(context: ReconcileContext): Promise<void> {
  if (hasFinalizer(context.object)) return;
  context.object = await context.cluster.annotate(context.kind, context.object, { finalizer: true });
}

function settled(context: ReconcileContext, remote: Remote): Outcome {
  const { readiness, conditions = [] } = readinessOf(context.kind, remote, context.object.spec, now(context));
  return { type: "settled", readiness, conditions };
}

/** One write at most, and none when the status says all this already. */
async function report(context: ReconcileContext, outcome: Outcome): Promise<void> {
  const before = context.object;
  const status = nextStatus(context, outcome, now(context));
  if (!isSameStatus(before.status, status)) await context.cluster.writeStatus(context.kind, before, status);
  for (const notice of eventsOf(before, status, context)) context.cluster.emit(before, notice);
}

function resultOf(context: ReconcileContext, outcome: Outcome, options: ReconcileOptions): Result {
  if (outcome.type === "paused") return {};
  if (outcome.type === "unfinished") return resultOfError(context, outcome.error, options);
  const due = [outcome.readiness.afterSeconds, ...requeueTimes(context, options)].filter(
    (seconds) => seconds !== undefined,
  );
  return due.length > 0 ? { requeueAfterSeconds: Math.min(...due) } : {};
}

/** What a settled object has to be looked at for, each in so many seconds. */
function requeueTimes(context: ReconcileContext, { resyncSeconds }: ReconcileOptions): (number | undefined)[] {
  const { kind, object, state } = context;
  const renewsAt = state.remote && kind.renewsAt(state.remote, object.spec);
  const reads = kind.output !== undefined || listOf(kind) === undefined || readsOthers(context);
  return [
    ...retiringOf(context).map((id) => context.account.deferredDeleteSeconds(id) || RETIRING_SECONDS),
    renewsAt === undefined ? undefined : Math.max((renewsAt - now(context)) / 1000, 1),
    reads ? resyncSeconds : undefined,
  ];
}

/** A change of what it reads of Kubernetes is told by nothing. */
const readsOthers = ({ kind, object }: ReconcileContext): boolean =>
  needsOf(kind.spec, object.spec).some(
    ({ sort }) => sort === "configMap" || (sort === "secret" && !isObserveOnly(object)),
  );

function resultOfError(
  context: ReconcileContext,
  error: ReconcileError,
  { resyncSeconds, secretsWatched }: ReconcileOptions,
): Result {
  if (error.reason === "SecretNotReady")
    return { requeueAfterSeconds: secretsWatched ? resyncSeconds : secretDelay(context) };
  const seconds = retryAfterSeconds(error);
  if (seconds === undefined) return { backoff: true };
  if (error instanceof Retry) return { backoff: true, atLeastSeconds: seconds };
  // what a person has to mend may be in a Secret
  return { requeueAfterSeconds: readsOthers(context) ? Math.min(seconds, resyncSeconds) : seconds };
}

/** Nothing tells of a new Secret where Secrets may not be watched; reads are cheap at first and rarer with time. */
function secretDelay(context: ReconcileContext): number {
  const since = Date.parse(conditionOf(context.object.status, "Ready")?.lastTransitionTime ?? "") || now(context);
  return Math.min(Math.max((now(context) - since) / 4000, 1), 30);
}
