import type { Account } from "../account/account.ts";
import type { Failure, Failures } from "../account/failures.ts";
import { isGatewayError } from "../gateway/errors.ts";
import { isDeleting, isOrphan, type ManagedObject, reconcileRequestedAt } from "../objects/object.ts";
import { type ReconcileError, Waiting } from "../objects/reconcile-error.ts";
import { has, type ReconcileContext } from "./context.ts";
import { type Desired, resolveDesired } from "./desired/desired.ts";

/**
 * Throws the error of the object's last attempt while it is too soon to ask the service for the same again, whatever
 * caused this reconcile. Sends nothing. What somebody has just changed is never too soon.
 */
export async function refuseTooSoon(context: ReconcileContext): Promise<void> {
  const { object, lane } = context;
  const { uid } = object.metadata;
  const failures = failuresOf(context);
  const last = failures?.of(uid);
  if (!failures || !last) return;
  const isSoon = lane !== "edit" && failures.secondsLeft(uid) > 0 && last.asked === askedBy(object);
  if (isSoon && (await hasSameInputs(context, last))) throw last.error;
  failures.trying(uid);
}

/** Records that the attempt failed, if it was the service that did not do what was asked. */
export function recordFailure(context: ReconcileContext, error: ReconcileError): void {
  const { object, state } = context;
  const { cause } = error;
  // after a 429 the budget waits for all, and what the circuit breaker holds back was no attempt
  if (error instanceof Waiting || !isGatewayError(cause) || cause.kind === "limited") return;
  const account = accountOf(context);
  if (!account || cause === account.breaker.problem || failureOf(context, error)) return;
  const failure = { error, cause, asked: askedBy(object), inputs: state.inputs };
  account.failures.failed(object.metadata.uid, failure);
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

/** What tells one set of values that a spec refers to from another. */
export const inputsOf = ({ digest, secrets }: Desired): string => JSON.stringify([digest, secrets]);

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
