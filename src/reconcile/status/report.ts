import { type ConditionDraft, toCondition } from "../../objects/conditions.ts";
import {
  type Condition,
  conditionOf,
  type ManagedObject,
  reconcileRequestedAt,
  type Status,
} from "../../objects/object.ts";
import { Blocked, type ReconcileError, Waiting } from "../../objects/reconcile-error.ts";
import { answerFieldsOf } from "../../schema/common.ts";
import { type Kind, type KindCondition, type Readiness, usable } from "../../schema/define.ts";
import { isExpired } from "../../schema/readiness.ts";
import { toStatus } from "../../schema/wire/answer.ts";
import { has, type ReconcileContext, type RemoteState } from "../context.ts";
import { specFields } from "../desired/plan.ts";

/** How a reconcile ended. */
export type Outcome =
  /** `afterSeconds`: when the DNS records are looked at again. */
  | { type: "settled"; readiness: Readiness; conditions: readonly KindCondition[]; afterSeconds?: number | undefined }
  | { type: "unfinished"; error: ReconcileError }
  | { type: "paused" }
  /** Nothing is written for the object, so that another one can take its remote. */
  | { type: "released"; message: string };

/** The parts of the context that a status is made from. */
type StatusInput = Pick<ReconcileContext, "kind" | "object" | "accountName" | "state" | "changes">;

/**
 * The whole status after a reconcile. Equal to the status before, apart from unset members, when nothing has changed.
 */
export function nextStatus(context: StatusInput, outcome: Outcome, now: number): Status {
  const { kind, object, state } = context;
  const before = object.status ?? {};
  // Don't set observedGeneration: an edit that is made during the pause must not count as carried out.
  if (outcome.type === "paused") return { ...before, conditions: pausedConditions(object, paused, now) };
  if (outcome.type === "released") {
    const released = { ...paused, reason: "Released", message: outcome.message };
    return { ...before, conditions: pausedConditions(object, released, now) };
  }
  return {
    ...before,
    ...observedFields(kind, before, state),
    ...bookkeeping(context, outcome),
    observedGeneration: object.metadata.generation,
    conditions: conditionsFor(context, outcome, now).map((one) => toCondition(object, one, now)),
  };
}

/** Status fields that the operator needs itself. An undefined member removes the field. */
function bookkeeping({ object, accountName, state }: StatusInput, outcome: Outcome): Partial<Status> {
  const { drift, remote } = state;
  const settled = outcome.type === "settled";
  const requestedAt = answersRequest(outcome) ? reconcileRequestedAt(object) : undefined;
  const id = remote?.id ?? object.status?.id;
  return {
    ...(requestedAt !== undefined && { lastHandledReconcileAt: requestedAt }),
    ...(id !== undefined && { account: accountName || undefined }),
    ...((drift || settled) && { drift: drift?.fields }),
    ...whatIsThere(state),
  };
}

/** Only what this reconcile has found out. */
function whatIsThere({ retiring, preexisting, origin, outputSecret }: RemoteState): Partial<Status> {
  return {
    ...(origin && { origin }),
    ...(preexisting !== undefined && { preexisting: preexisting || undefined }),
    ...(retiring && { retiring: retiring.at(0), retiringLater: retiring.length > 1 ? retiring.slice(1) : undefined }),
    ...(outputSecret !== undefined && { outputSecret: outputSecret || undefined }),
  };
}

/**
 * Whether reconcile-requested-at is answered by this outcome. AccountMismatch answers it too, so that not every look at
 * the object reads its remote while the whole account waits for a person.
 */
const answersRequest = (outcome: Outcome): boolean =>
  outcome.type === "settled" || (outcome.type === "unfinished" && outcome.error.reason === "AccountMismatch");

function observedFields(kind: Kind, before: Status, state: RemoteState): Partial<Status> {
  const { remote, appliedFields, appliedSecrets, appliedDigest, sent } = state;
  const statusFields = answerFieldsOf(kind);
  const current = remote ? (toStatus(statusFields, remote) as Status) : undefined;
  // An unreadable answer has nothing but the id, so it clears no field.
  const complete = remote && Object.keys(remote).length > 1;
  const unchanged = Object.fromEntries(Object.keys(statusFields.shape).map((field) => [field, before[field]]));
  const cleared = Object.fromEntries(Object.keys(statusFields.shape).map((field) => [field, undefined]));
  return {
    ...(current && { ...(complete ? cleared : unchanged), ...current }),
    ...(appliedFields && { appliedFields: appliedFields.length > 0 ? appliedFields : undefined }),
    ...(appliedSecrets && { appliedSecrets: appliedSecrets.length > 0 ? appliedSecrets : undefined }),
    // When something was sent and the reconcile did not finish, nobody knows what the account has, so clear the digest.
    ...((appliedDigest || sent) && { appliedDigest }),
  } as Partial<Status>;
}

function conditionsFor(
  context: StatusInput,
  outcome: Extract<Outcome, { type: "settled" | "unfinished" }>,
  now: number,
): ConditionDraft[] {
  switch (outcome.type) {
    case "settled":
      return [...settledConditions(outcome, context.state, now), ...driftedConditions(context.state)];
    case "unfinished":
      return [
        ...unfinishedConditions(context, outcome.error, now),
        ...currentConditions(context.object, [...context.kind.ownConditions, "Drifted"]),
      ];
  }
}

/** The other conditions stay as they are, but `Ready` must not call an edit applied that waits for the pause to end. */
const pausedConditions = (object: ManagedObject, draft: ConditionDraft, now: number): Condition[] => [
  ...(object.status?.conditions ?? [])
    .filter(({ type }) => type !== paused.type)
    .map((one) => (isReadyAsBefore(object, one) ? { ...one, message: UNAPPLIED } : one)),
  toCondition(object, draft, now),
];

const UNAPPLIED = "The resource exists in the account as specified before the pause: the edit after it is not applied";

const isReadyAsBefore = ({ metadata }: ManagedObject, { type, status, observedGeneration }: Condition): boolean =>
  type === "Ready" && status === "True" && observedGeneration !== metadata.generation;

const differs = (fields: readonly string[]): string =>
  `The resource exists in the account, and differs from the spec in ${specFields(fields)}`;

const paused: ConditionDraft = {
  type: "Paused",
  status: "True",
  reason: "Paused",
  message: "Remove the annotation tunnelgateway.dev/paused to go on: the object is left alone",
};

const synced: ConditionDraft = {
  type: "Synced",
  status: "True",
  reason: "Available",
  message: "The last call to the service did what it should",
};

function settledConditions(
  { readiness, conditions: more }: Extract<Outcome, { type: "settled" }>,
  { drift }: RemoteState,
  now: number,
): ConditionDraft[] {
  if (readiness.state === "usable") {
    const { reason = "Available" } = readiness;
    const message = readiness === usable && drift ? differs(drift.fields) : readiness.message;
    return [{ type: "Ready", status: "True", reason, message }, synced, ...more];
  }
  const { reason, message } = readiness;
  const stalled = readiness.state === "failing" && now >= readiness.stalledAt;
  const progress: ConditionDraft = { type: stalled ? "Stalled" : "Reconciling", status: "True", reason, message };
  return [{ type: "Ready", status: "False", reason, message }, synced, progress, ...more];
}

function driftedConditions({ drift }: RemoteState): ConditionDraft[] {
  return drift ? [{ type: "Drifted", status: "True", reason: drift.reason, message: drift.message }] : [];
}

/**
 * A ready object whose spec has not changed stays ready while the service or a Secret cannot be read: its traffic is
 * not affected. It stops being ready when its remote is missing or expired, or when the error is in the object.
 */
function unfinishedConditions(context: StatusInput, error: ReconcileError, now: number): ConditionDraft[] {
  const { object } = context;
  const { reason, message } = error;
  const failed: ConditionDraft = { ...synced, status: "False", reason, message };
  const isMissing = has(context, "Missing") && !context.state.remote;
  if (!isMissing && !isExpired(context.kind, object.status, now) && staysReady(object, error))
    return [...currentConditions(object, ["Ready"]), failed];
  // Waiting: this reconcile has not got as far as a call, so Synced stays as it was.
  const call = error instanceof Waiting ? currentConditions(object, ["Synced"]) : [failed];
  const progress: ConditionDraft = {
    type: error instanceof Blocked ? "Stalled" : "Reconciling",
    status: "True",
    reason,
    message,
  };
  return [{ type: "Ready", status: "False", reason, message }, ...call, progress];
}

/** Reasons that concern the account and not the object: the remote serves as before. */
const ACCOUNT_REASONS: ReadonlySet<string> = new Set(["Unauthorized", "Forbidden", "AccountMismatch"]);

function staysReady(object: ManagedObject, error: ReconcileError): boolean {
  if (object.metadata.deletionTimestamp) return false;
  const ready = conditionOf(object.status, "Ready");
  if (ready?.status !== "True" || ready.observedGeneration !== object.metadata.generation) return false;
  return !(error instanceof Blocked) || ACCOUNT_REASONS.has(error.reason);
}

/** Conditions as they are, each with the generation for which it was set. */
const currentConditions = ({ status }: ManagedObject, types: readonly string[]): ConditionDraft[] =>
  types.flatMap((type) => conditionOf(status, type) ?? []);
