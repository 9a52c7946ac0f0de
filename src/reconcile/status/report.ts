import { type ConditionDraft, toCondition } from "../../objects/conditions.ts";
import {
  type Condition,
  conditionOf,
  type ManagedObject,
  reconcileRequestedAt,
  type Status,
} from "../../objects/object.ts";
import { Blocked, type ReconcileError, Waiting } from "../../objects/reconcile-error.ts";
import { shownOf } from "../../schema/common.ts";
import type { Kind, KindCondition, Readiness } from "../../schema/define.ts";
import { isExpired } from "../../schema/readiness.ts";
import { toStatus } from "../../schema/wire/answer.ts";
import { has, type ReconcileContext, type RemoteState } from "../context.ts";

/** How a reconcile ended. */
export type Outcome =
  | { type: "settled"; readiness: Readiness; conditions: readonly KindCondition[] }
  | { type: "unfinished"; error: ReconcileError }
  | { type: "paused" };

/** What a status is made of. */
type StatusInput = Pick<ReconcileContext, "kind" | "object" | "accountName" | "state" | "changes">;

/** What the status says after a reconcile. Equal to the status before when nothing has changed. */
export function nextStatus(context: StatusInput, outcome: Outcome, now: number): Status {
  const { kind, object, state } = context;
  const before = object.status ?? {};
  // what the status speaks of stays as it was, so that an edit made meanwhile is not taken for done
  if (outcome.type === "paused") return { ...before, conditions: pausedConditions(object, now) };
  return {
    ...before,
    ...observedFields(kind, before, state),
    ...bookkeeping(context, outcome),
    observedGeneration: object.metadata.generation,
    conditions: conditionsFor(context, outcome, now).map((one) => toCondition(object, one, now)),
  };
}

/** What the operator notes for itself; undefined takes a note away. */
function bookkeeping({ object, accountName, state }: StatusInput, outcome: Outcome): Partial<Status> {
  const { retiring, drift, remote, preexisting } = state;
  const settled = outcome.type === "settled";
  const asked = answersRequest(outcome) ? reconcileRequestedAt(object) : undefined;
  const owned = remote?.id ?? object.status?.id;
  return {
    ...(asked !== undefined && { lastHandledReconcileAt: asked }),
    ...(owned !== undefined && { account: accountName || undefined }),
    ...(preexisting !== undefined && { preexisting: preexisting || undefined }),
    ...(retiring && { retiring: retiring.at(0), retiringLater: retiring.length > 1 ? retiring.slice(1) : undefined }),
    ...((drift || settled) && { drift: drift?.fields }),
  };
}

/** Whether a look that was asked for has been had. One from before a mismatch is told confirms nothing. */
const answersRequest = (outcome: Outcome): boolean =>
  outcome.type === "settled" || (outcome.type === "unfinished" && outcome.error.reason === "AccountMismatch");

function observedFields(kind: Kind, before: Status, state: RemoteState): Partial<Status> {
  const { remote, appliedFields, appliedSecrets, appliedDigest, sent } = state;
  const statusFields = shownOf(kind);
  const current = remote ? (toStatus(statusFields, remote) as Status) : undefined;
  // an answer without its other members (an unreadable one with an id) takes nothing away
  const complete = remote && Object.keys(remote).length > 1;
  const unchanged = Object.fromEntries(Object.keys(statusFields.shape).map((field) => [field, before[field]]));
  const cleared = Object.fromEntries(Object.keys(statusFields.shape).map((field) => [field, undefined]));
  return {
    ...(current && { ...(complete ? cleared : unchanged), ...current }),
    ...(appliedFields && { appliedFields: appliedFields.length > 0 ? appliedFields : undefined }),
    ...(appliedSecrets && { appliedSecrets: appliedSecrets.length > 0 ? appliedSecrets : undefined }),
    // of what was sent and did not come to its end, nobody knows what arrived
    ...((appliedDigest || sent) && { appliedDigest }),
  } as Partial<Status>;
}

function conditionsFor(
  context: StatusInput,
  outcome: Exclude<Outcome, { type: "paused" }>,
  now: number,
): ConditionDraft[] {
  switch (outcome.type) {
    case "settled":
      return [...settledConditions(outcome, now), ...driftedConditions(context.state)];
    case "unfinished":
      return [
        ...unfinishedConditions(context, outcome.error, now),
        ...currentConditions(context.object, [...context.kind.ownConditions, "Drifted"]),
      ];
  }
}

const pausedConditions = (object: ManagedObject, now: number): Condition[] => [
  ...(object.status?.conditions ?? []).filter(({ type }) => type !== paused.type),
  toCondition(object, paused, now),
];

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
  now: number,
): ConditionDraft[] {
  if (readiness.state === "usable") {
    const { reason = "Available", message } = readiness;
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
 * An object that was ready and asks for nothing new stays ready: that the service cannot be reached, or that a Secret
 * cannot be read right now, changes nothing for its traffic. What is certain to be wrong is said.
 */
function unfinishedConditions(context: StatusInput, error: ReconcileError, now: number): ConditionDraft[] {
  const { object } = context;
  const { reason, message } = error;
  const failed: ConditionDraft = { ...synced, status: "False", reason, message };
  const isMissing = has(context, "Missing") && !context.state.remote;
  if (!isMissing && !isExpired(context.kind, object.status, now) && staysReady(object, error))
    return [...currentConditions(object, ["Ready"]), failed];
  // nothing has been asked of the service yet
  const call = error instanceof Waiting ? currentConditions(object, ["Synced"]) : [failed];
  const progress: ConditionDraft = {
    type: error instanceof Blocked ? "Stalled" : "Reconciling",
    status: "True",
    reason,
    message,
  };
  return [{ type: "Ready", status: "False", reason, message }, ...call, progress];
}

/** Reasons of the account, not of the object: what is there stays as it was. */
const ACCOUNT_REASONS: ReadonlySet<string> = new Set(["Unauthorized", "Forbidden", "AccountMismatch"]);

function staysReady(object: ManagedObject, error: ReconcileError): boolean {
  if (object.metadata.deletionTimestamp) return false;
  const ready = conditionOf(object.status, "Ready");
  if (ready?.status !== "True" || ready.observedGeneration !== object.metadata.generation) return false;
  return !(error instanceof Blocked) || ACCOUNT_REASONS.has(error.reason);
}

/** What was told of an earlier generation is not taken for told of this one. */
const currentConditions = ({ status }: ManagedObject, types: readonly string[]): ConditionDraft[] =>
  types.flatMap((type) => conditionOf(status, type) ?? []);
