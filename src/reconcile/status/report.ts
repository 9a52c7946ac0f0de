import { isGatewayError } from "../../gateway/errors.ts";
import { switchProblem } from "../../objects/annotations.ts";
import { ANNOTATIONS_VALID, annotationConditions, type ConditionDraft, toCondition } from "../../objects/conditions.ts";
import {
  type Bookkeeping,
  type Condition,
  conditionOf,
  isAsSpecified,
  type ManagedObject,
  reconcileRequestedAt,
  retiringIDs,
  type Status,
} from "../../objects/object.ts";
import { Blocked, type ReconcileError, RefusedBefore, Waiting } from "../../objects/reconcile-error.ts";
import { columnTexts, shownMessage } from "../../schema/columns.ts";
import { answerFieldsOf, columnsOf } from "../../schema/common.ts";
import type { Kind, KindCondition, KindReadiness, Readiness } from "../../schema/define.ts";
import { memoize } from "../../schema/memoize.ts";
import { isExpired, validityOfStatus } from "../../schema/readiness.ts";
import { MOST_SHOWN_BYTES, type Shown, shownOf } from "../../schema/wire/answer.ts";
import { isUnset } from "../../schema/wire/compare.ts";
import type { ReconcileContext, RemoteState } from "../context.ts";
import { specFields } from "../desired/plan.ts";

/** How a reconcile ended. */
export type Outcome =
  /** `afterSeconds`: seconds until the next look at the DNS records. */
  | Settled
  /** `judged`: unset if the remote is not known. `conditions`: those of the kind that hold whatever the remote shows. */
  | {
      type: "unfinished";
      error: ReconcileError;
      judged?: KindReadiness | undefined;
      conditions?: readonly KindCondition[];
    }
  | { type: "paused" }
  /** A new object waits for its turn. */
  | { type: "queued"; message: string }
  /** The operator does not manage the remote for this object any more, so that another object can take it. */
  | { type: "released"; message: string; isHandedOver: boolean };

interface Settled {
  type: "settled";
  readiness: Readiness;
  conditions: readonly KindCondition[];
  afterSeconds?: number | undefined;
  /** Why nobody sees what other clients change: the list fails. */
  unlisted?: ReconcileError | undefined;
}

type Unfinished = Extract<Outcome, { type: "unfinished" }>;

/** The parts of the context that a status is made from. */
type StatusInput = Pick<ReconcileContext, "kind" | "object" | "accountName" | "state" | "changes">;

/**
 * The whole status after a reconcile. Equal to the previous status, apart from unset members, when nothing has changed.
 * `serviceTime`: epoch milliseconds by the clock of the service, which dates certificates.
 */
export function nextStatus(context: StatusInput, outcome: Outcome, now: number, serviceTime = now): Status {
  const status = withAnnotations(statusWithoutColumns(context, outcome, now, serviceTime), context.object, now);
  const isLeftAlone = outcome.type === "paused" || outcome.type === "released";
  // An edit during a pause is not carried out yet.
  const { spec } = context.object;
  const texts = isLeftAlone ? status.columns : columnTexts(context.kind.columns, { spec, status });
  return { ...status, columns: { ...texts, ...noteOf(context.kind, status.conditions) } };
}

function withAnnotations(status: Status, object: ManagedObject, now: number): Status {
  const others = (status.conditions ?? []).filter(({ type }) => type !== ANNOTATIONS_VALID);
  return {
    ...status,
    conditions: [...others, ...annotationConditions(object).map((one) => toCondition(object, one, now))],
  };
}

function statusWithoutColumns(context: StatusInput, outcome: Outcome, now: number, serviceTime: number): Status {
  const { kind, object, state } = context;
  const before = statusBefore(context);
  // Don't set observedGeneration: an edit that is made during the pause must not count as carried out.
  if (outcome.type === "paused") return { ...before, conditions: pausedConditions(object, pausedBy(object), now) };
  if (outcome.type === "queued") {
    const { message } = outcome;
    const draft: ConditionDraft = { type: "Ready", status: "Unknown", reason: "Pending", message };
    return { ...before, conditions: [toCondition(object, draft, now)] };
  }
  if (outcome.type === "released") {
    const released = { ...paused, reason: "Released", message: outcome.message };
    const given = outcome.isHandedOver && { holds: false };
    return { ...before, ...given, conditions: pausedConditions(object, released, now) };
  }
  const shown = state.remote && shownOf(answerFieldsOf(kind), state.remote);
  return withoutFormerTokens({
    ...before,
    ...observedFields(kind, state, shown),
    ...ownFields(context, outcome),
    observedGeneration: object.metadata.generation,
    conditions: conditionsFor(context, outcome, serviceTime, shown).map((one) => toCondition(object, one, now)),
  });
}

/**
 * The status that this one follows. What the object had in a former remote says nothing of another one that it has come
 * to observe: that one would go with the object.
 */
function statusBefore({ object: { status = {} }, state: { holds, remote } }: StatusInput): Status {
  if (holds !== false || status.id === undefined || remote === undefined || remote.id === status.id) return status;
  const { origin, appliedFields, appliedSecrets, appliedDigest, owner, ...rest } = status;
  return rest;
}

/** The status without the records of remotes that are gone. */
function withoutFormerTokens(status: Status): Status {
  const { tokenDigests } = status;
  if (!tokenDigests) return status;
  const present = [status.id, ...retiringIDs(status)];
  const kept = Object.entries(tokenDigests).filter(([id]) => present.includes(id));
  return { ...status, tokenDigests: kept.length > 0 ? Object.fromEntries(kept) : undefined };
}

/** What the operator itself needs. An undefined member removes the field. */
function ownFields({ object, accountName, state }: StatusInput, outcome: Outcome): Partial<Status> {
  const { drift, remote } = state;
  const settled = outcome.type === "settled";
  const requestedAt = answersRequest(outcome) ? reconcileRequestedAt(object) : undefined;
  const id = remote?.id ?? object.status?.id;
  return {
    ...(requestedAt !== undefined && { lastHandledReconcileAt: requestedAt }),
    ...(id !== undefined && { account: accountName || undefined }),
    ...((drift || settled) && { drift: drift?.fields }),
    ...whichRemote(state),
    ...bookkeeping(state),
  };
}

/** Which remote the object has, as far as this reconcile has found out. */
const whichRemote = ({ remote, holds, origin, created }: RemoteState): Partial<Status> => ({
  ...(holds !== undefined && { holds: holds ? undefined : false }),
  // Only together with the id. A search knows the create before the reconcile has the remote, and a status with the create
  // alone would say that its outcome is known: a deletion would leave the remote.
  ...(remote && origin && { origin }),
  ...(remote && created !== undefined && { created: created || undefined }),
});

/** What the next process has to know, as far as this reconcile has found out. */
const bookkeeping = ({ next, sent }: RemoteState): Bookkeeping => ({
  // When a request was sent and the reconcile did not finish, the state of the account is unknown.
  ...(sent && { appliedDigest: undefined }),
  ...Object.fromEntries(Object.entries(next).map(([field, value]) => [field, isUnset(value) ? undefined : value])),
});

/**
 * Whether this outcome answers the annotation reconcile-requested-at. AccountMismatch does as well. Otherwise each
 * reconcile would read its remote while the whole account waits for a person.
 */
const answersRequest = (outcome: Outcome): boolean =>
  outcome.type === "settled" || (outcome.type === "unfinished" && outcome.error.reason === "AccountMismatch");

function observedFields(kind: Kind, { remote }: RemoteState, shown: Shown | undefined): Partial<Status> {
  // An unreadable answer has nothing but the id, so it clears no field.
  const isComplete = remote && Object.keys(remote).length > 1;
  return { ...(isComplete && clearedFields(kind)), ...shown?.status };
}

const clearedFields = memoize((kind: Kind): Partial<Status> => {
  return Object.fromEntries(Object.keys(answerFieldsOf(kind).shape).map((field) => [field, undefined]));
});

function conditionsFor(
  context: StatusInput,
  outcome: Extract<Outcome, { type: "settled" | "unfinished" }>,
  serviceTime: number,
  shown: Shown | undefined,
): ConditionDraft[] {
  switch (outcome.type) {
    case "settled":
      return [
        ...settledConditions(outcome, context, { now: serviceTime, call: callOf(outcome, shown) }),
        ...driftedConditions(context.state),
      ];
    case "unfinished":
      return [
        ...unfinishedConditions(context, outcome, serviceTime),
        ...ownConditions(context, outcome, serviceTime),
        ...currentConditions(context.object, ["Drifted"]),
      ];
  }
}

/**
 * The message column of `kubectl get`. Ready stays True during a pause, an outage or drift, so the first of these
 * conditions that holds is shown instead.
 */
function noteOf(kind: Kind, conditions: readonly Condition[] = []): { reason?: string; message?: string } {
  const reported = noted.map((fits) => conditions.find(fits)).find((one) => one !== undefined);
  return reported ? { reason: reported.reason, message: shownMessage(columnsOf(kind), reported.message) } : {};
}

const noted: readonly ((condition: Condition) => boolean)[] = [
  ({ type, status }) => type === "Ready" && status === "False",
  ({ type, status }) => type === "Paused" && status === "True",
  ({ type, status }) => type === "Ready" && status === "Unknown",
  ({ type, status }) => type === "Synced" && status === "False",
  ({ type, reason }) => type === "Ready" && reason !== synced.reason,
  ({ type, status }) => type === "Drifted" && status === "True",
  // Conditions of the kind, such as DNSReady.
  ({ status }) => status === "False",
  ({ type }) => type === "Ready",
];

/**
 * The other conditions stay as they are. But `Ready` must not say that an edit was applied which waits for the end of
 * the pause.
 */
const pausedConditions = (object: ManagedObject, draft: ConditionDraft, now: number): Condition[] => [
  ...(object.status?.conditions ?? [])
    .filter(({ type }) => type !== paused.type)
    .map((one) => (isReadyAsBefore(object, one) ? { ...one, message: UNAPPLIED } : one)),
  toCondition(object, draft, now),
];

const UNAPPLIED = "Exists in the account as specified before the pause: the edit after it is not applied";

const isReadyAsBefore = ({ metadata }: ManagedObject, { type, status, observedGeneration }: Condition): boolean =>
  type === "Ready" && status === "True" && observedGeneration !== metadata.generation;

const differs = (fields: readonly string[]): string =>
  `Exists in the account, and differs from the spec in ${specFields(fields)}`;

const paused: ConditionDraft = {
  type: "Paused",
  status: "True",
  reason: "Paused",
  message: "Remove the annotation tunnelgateway.dev/paused to go on: the object is left alone",
};

const pausedBy = (object: ManagedObject): ConditionDraft => ({
  ...paused,
  message: switchProblem(object, "paused") ?? paused.message,
});

const synced: ConditionDraft = {
  type: "Synced",
  status: "True",
  reason: "Available",
  message: "The last call to the service succeeded",
};

/** `Synced` of an object whose requests succeeded: the status may still not show the remote as it is. */
function callOf({ unlisted }: Settled, shown: Shown | undefined): ConditionDraft {
  if (unlisted) return { ...synced, status: "False", reason: unlisted.reason, message: unlisted.message };
  const [large] = shown?.tooLarge ?? [];
  if (large === undefined) return synced;
  const what = `it has more than the ${MOST_SHOWN_BYTES} bytes that a status shows of a field`;
  const message = `Make ${large} of the resource smaller in the account: ${what}`;
  return { ...synced, status: "False", reason: "UnexpectedResponse", message };
}

function settledConditions(
  { readiness, conditions: more }: Settled,
  context: StatusInput,
  { now, call }: { now: number; call: ConditionDraft },
): ConditionDraft[] {
  if (readiness.state === "usable") {
    const { reason = "Available" } = readiness;
    // A failing renewal is more urgent than drift, which `Drifted` reports as well.
    const message = (readiness.reason === undefined && otherThanSpecified(context)) || readiness.message;
    return [{ type: "Ready", status: "True", reason, message }, call, ...more];
  }
  const { reason, message } = readiness;
  const stalled = readiness.state === "failing" && now >= readiness.stalledAt;
  const progress: ConditionDraft = { type: stalled ? "Stalled" : "Reconciling", status: "True", reason, message };
  return [{ type: "Ready", status: "False", reason, message }, call, progress, ...more];
}

/** What Ready says when the remote is not as specified, or may be of no use. Undefined when all is well. */
function otherThanSpecified({ object, state: { drift, remote, sharedAddress } }: StatusInput): string | undefined {
  if (drift) return differs(drift.fields);
  const [id, asked] = [remote?.id ?? object.status?.id, object.spec.adopt?.id];
  if (id !== undefined && asked !== undefined && id !== asked) return notAdopted(id, asked);
  return sharedAddress && shares(sharedAddress);
}

const shares = ({ address, with: other }: { address: string; with: string }): string =>
  `Give this or ${other} another address than ${address}: both listen there, and only one may get its traffic`;

/**
 * Why the object does not have the remote that it asks for: it had another one before, or has replaced the adopted one.
 */
const notAdopted = (id: string, asked: string): string =>
  `Exists in the account. spec.adopt.id has no effect: this object has ${id}, not ${asked}`;

function driftedConditions({ drift }: RemoteState): ConditionDraft[] {
  return drift ? [{ type: "Drifted", status: "True", reason: drift.reason, message: drift.message }] : [];
}

/**
 * A ready object whose spec has not changed stays ready while the service or a Secret cannot be read, because its
 * traffic is not affected. It stops being ready when its remote is missing or expired, or when the error is in the
 * object.
 */
function unfinishedConditions(context: StatusInput, { error, judged }: Unfinished, now: number): ConditionDraft[] {
  const { object } = context;
  const { reason, message } = error;
  const failed: ConditionDraft = { ...synced, status: "False", reason, message };
  const isUnusable = isExpired(context.kind, object.status, now) || (judged && judged.readiness.state !== "usable");
  if (!isGone(context) && !isUnusable && staysReady(object, error))
    return [...currentConditions(object, ["Ready"]), failed];
  // With Waiting, this reconcile sent no request, so Synced stays as it was.
  const call = error instanceof Waiting ? currentConditions(object, ["Synced"]) : [failed];
  const progress: ConditionDraft = {
    type: error instanceof Blocked ? "Stalled" : "Reconciling",
    status: "True",
    reason,
    message,
  };
  return [{ type: "Ready", status: "False", reason, message }, ...call, progress];
}

/** Whether the remote of the status no longer exists, and this reconcile has found or created no other. */
function isGone({ object, state, changes }: StatusInput): boolean {
  const id = object.status?.id;
  const wasDeleted = changes.some((change) => change.type === "Deleted" && change.id === id);
  return wasDeleted || (changes.some(({ type }) => type === "Missing") && !state.remote);
}

/** Reasons that concern the account and not the object. The remote works as before. */
const ACCOUNT_REASONS: ReadonlySet<string> = new Set(["Unauthorized", "Forbidden", "AccountMismatch"]);

/** Reasons of a refused change, which leaves the remote as it was. */
const REFUSALS: ReadonlySet<string> = new Set(["InvalidSpec", "QuotaExceeded", "SecretNotReady", "UpdateUnsupported"]);

function staysReady(object: ManagedObject, error: ReconcileError): boolean {
  if (!isAsSpecified(object)) return false;
  if (!(error instanceof Blocked) || ACCOUNT_REASONS.has(error.reason)) return true;
  return REFUSALS.has(error.reason) && (isGatewayError(error.cause) || error instanceof RefusedBefore);
}

/**
 * The conditions of the kind. They stay as they are, unless the remote shows something else, or a certificate has
 * expired meanwhile.
 */
function ownConditions({ kind, object }: StatusInput, outcome: Unfinished, now: number): ConditionDraft[] {
  const { judged, conditions = [] } = outcome;
  const ended = judged?.conditions?.length ? undefined : endOfValidity(kind, object, now);
  const shown = [...(judged?.conditions ?? []), ...(ended ? [ended] : []), ...conditions];
  const others = kind.ownConditions.filter((type) => !shown.some((one) => one.type === type));
  // A condition that says the same keeps its generation: the edit is not carried out.
  return [...shown.map((one) => sameCondition(object, one) ?? one), ...currentConditions(object, others)];
}

const endOfValidity = (kind: Kind, { spec, status }: ManagedObject, now: number): KindCondition | undefined =>
  isExpired(kind, status, now) ? validityOfStatus(kind, spec, status, now) : undefined;

function sameCondition({ status }: ManagedObject, { type, reason, message, ...draft }: KindCondition) {
  const before = conditionOf(status, type);
  const isSame = before?.status === draft.status && before.reason === reason && before.message === message;
  return isSame ? before : undefined;
}

/** These conditions unchanged, each with the generation for which it was set. */
const currentConditions = ({ status }: ManagedObject, types: readonly string[]): ConditionDraft[] =>
  types.flatMap((type) => conditionOf(status, type) ?? []);
