import type { Account } from "../account/account.ts";
import type { Failure, Failures } from "../account/failures.ts";
import { isGatewayError } from "../gateway/errors.ts";
import { isDeleting, isOrphan, type ManagedObject, reconcileRequestedAt } from "../objects/object.ts";
import { type ReconcileError, Retry, Waiting } from "../objects/reconcile-error.ts";
import { sharedLists } from "../schema/wire/shared.ts";
import { has, type ReconcileContext } from "./context.ts";
import { type Desired, resolveDesired } from "./desired/desired.ts";
import { confidentialDigestOf } from "./desired/digest.ts";

/**
 * Throws the error of the object's last attempt while it is too soon to ask the service for the same again, whatever
 * caused this reconcile. Sends nothing. To ask for something else is never too soon.
 */
export async function refuseTooSoon(context: ReconcileContext): Promise<void> {
  const { object, lane } = context;
  const { uid } = object.metadata;
  const account = accountOf(context);
  account?.beginTry(uid);
  const failures = account?.failures;
  const last = failures?.of(uid);
  if (!failures || !last) return;
  // It was tried, and postponed until now.
  if (context.account.turns.has(uid)) return;
  // A change that asks for nothing else may be one of a label of a Secret, or of an object of somebody else.
  if (lane === "edit" && last.isTransient) failures.retrySooner(uid);
  const isSoon = failures.secondsLeft(uid) > 0 && last.asked === askedBy(object);
  if (isSoon && (await hasSameInputs(context, last))) throw last.error;
  failures.recordAttempt(uid);
}

/** Throws why that failed which the reconcile before has waited for. */
export function refuseFailedWait(context: ReconcileContext): void {
  if (context.turn) accountOf(context)?.turns.resume(context.turn);
}

/** Records that the attempt failed, if it was the service that did not do what was asked. */
export function recordFailure(context: ReconcileContext, error: ReconcileError): void {
  const { object, state } = context;
  const { cause } = error;
  const isOwnWait = error instanceof Waiting && error.reason !== "InUse";
  // after a 429 the budget waits for all, and what the circuit breaker holds back was no attempt
  if (isOwnWait || !isGatewayError(cause) || cause.kind === "limited") return;
  const account = accountOf(context);
  if (!account || cause === account.breaker.problem || failureOf(context, error)) return;
  const { inputs } = state;
  const failure = { error, cause, asked: askedBy(object), inputs, isTransient: isTransient(context, error) };
  account.recordFailure(object.metadata.uid, failure);
}

export function recordSuccess(context: ReconcileContext): void {
  const failures = failuresOf(context);
  const { path } = context.kind.resource;
  if (has(context, "Created")) failures?.answered(`POST ${path}`);
  if (has(context, "Updated")) failures?.answered(`PATCH ${path}/{id}`);
  failures?.succeeded(context.object.metadata.uid);
}

/** The recorded failure that the object reports with this error. */
export function failureOf(context: ReconcileContext, error: ReconcileError): Failure | undefined {
  const last = failuresOf(context)?.of(context.object.metadata.uid);
  return last?.error === error ? last : undefined;
}

/**
 * What tells one set of values that a spec refers to from another. The values themselves are compared, so that a Secret
 * whose labels change all the time is no reason to send a refused request again.
 */
export const inputsOf = ({ body }: Desired): string => confidentialDigestOf(body);

/**
 * Whether the failure may end although the object asks for the same as before. What is deleted may be in use, a name may
 * be taken, and a list may be shared.
 */
const isTransient = ({ kind, object, state }: ReconcileContext, error: ReconcileError): boolean =>
  error instanceof Retry ||
  state.inputs === undefined ||
  isDeleting(object) ||
  error.reason === "AlreadyExists" ||
  sharedLists(kind.spec).length > 0;

async function hasSameInputs({ kind, object, cluster }: ReconcileContext, { inputs }: Failure): Promise<boolean> {
  return inputs === undefined || inputs === inputsOf(await resolveDesired(kind, object, cluster));
}

const askedBy = (object: ManagedObject): string =>
  JSON.stringify([object.metadata.generation, isDeleting(object), isOrphan(object), reconcileRequestedAt(object)]);

const failuresOf = (context: ReconcileContext): Failures | undefined => accountOf(context)?.failures;

/** Undefined when it is not known which account the object has, or it has none: the reconcile says so itself. */
function accountOf(context: ReconcileContext): Account | undefined {
  try {
    return context.account;
  } catch {
    return undefined;
  }
}
