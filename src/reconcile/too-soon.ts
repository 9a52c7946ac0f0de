import type { Failures } from "../account/failures.ts";
import type { Failure } from "../account/object-record.ts";
import { isGatewayError } from "../gateway/errors.ts";
import { isDeleting, isOrphan, type ManagedObject, reconcileRequestedAt } from "../objects/object.ts";
import { type ReconcileError, Retry, Waiting } from "../objects/reconcile-error.ts";
import { sharedLists } from "../schema/wire/shared.ts";
import { accountOf, has, type ReconcileContext } from "./context.ts";
import { type Desired, resolveDesired } from "./desired/desired.ts";
import { confidentialDigestOf } from "./desired/digest.ts";

/**
 * Throws the error of the object's last attempt while it is too soon to send the same request again, whatever triggered
 * this reconcile. Sends nothing. A request for something else is never too soon.
 */
export async function refuseTooSoon(context: ReconcileContext): Promise<void> {
  const { object, record, lane } = context;
  const failures = failuresOf(context);
  failures?.begin(record);
  const last = failures?.of(record);
  if (!failures || !last) return;
  // The object had its turn and was postponed until now.
  if (record.place) return;
  // The trigger may be a change that affects nothing here, such as a label of a Secret or an edit of somebody else's
  // object.
  if (lane === "edit" && last.isTransient) failures.retrySooner(record);
  const isSoon = failures.secondsLeft(record) > 0 && last.asked === askedBy(object);
  if (isSoon && (await hasSameInputs(context, last))) throw last.error;
  failures.recordAttempt(record);
}

/** Throws the error of the wait for which the previous reconcile was postponed. */
export function refuseFailedWait(context: ReconcileContext): void {
  if (context.turn) accountOf(context)?.turns.resume(context.turn);
}

/** Records that the attempt failed, if it failed because of the service's answer. */
export function recordFailure(context: ReconcileContext, error: ReconcileError): void {
  const { object, state } = context;
  const { cause } = error;
  const isOwnWait = error instanceof Waiting && error.reason !== "InUse";
  // After a 429 the budget delays all objects, and a request that the circuit breaker holds back is no attempt.
  if (isOwnWait || !isGatewayError(cause) || cause.kind === "limited") return;
  const account = accountOf(context);
  if (!account || cause === account.breaker.problem || recordedFailure(context, error)) return;
  const inputs = state.inputs?.();
  const failure = { error, cause, asked: askedBy(object), inputs, isTransient: isTransient(context, error) };
  account.failures.failed(context.record, failure);
}

export function recordSuccess(context: ReconcileContext): void {
  const failures = failuresOf(context);
  const { path } = context.kind.resource;
  if (has(context, "Created")) failures?.answered(`POST ${path}`);
  if (has(context, "Updated")) failures?.answered(`PATCH ${path}/{id}`);
  failures?.succeeded(context.record);
}

/** The recorded failure that the object reports with this error. */
export function recordedFailure(context: ReconcileContext, error: ReconcileError): Failure | undefined {
  const last = failuresOf(context)?.of(context.record);
  return last?.error === error ? last : undefined;
}

/**
 * Digest of the values to which the spec refers. It leaves out everything else, so that a Secret whose labels keep
 * changing does not cause a refused request to be sent again.
 */
export const inputsOf = ({ body }: Desired): string => confidentialDigestOf(body);

/**
 * Whether the failure may end although the object asks for the same as before: a remote that is to be deleted may be in
 * use, a name taken, or a list shared.
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
