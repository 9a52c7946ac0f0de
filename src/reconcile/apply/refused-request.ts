import { REFUSED_DELAYS } from "../../account/object-record.ts";
import { GatewayError, isGatewayError } from "../../gateway/errors.ts";
import type { Remote } from "../../gateway/resource.ts";
import { isDeleting, type RefusedRequest, reconcileRequestedAt } from "../../objects/object.ts";
import { Blocked, type ReconcileError, RefusedBefore } from "../../objects/reconcile-error.ts";
import { epochMs, type ReconcileContext } from "../context.ts";
import type { Desired } from "../desired/desired.ts";
import { digestOf } from "../desired/digest.ts";

/** Reasons of errors that say that the account cannot take what the object asks for. */
const REASONS: ReadonlySet<string> = new Set([
  "InvalidSpec",
  "UpdateUnsupported",
  "ReplacementRequired",
  "SecretNotReady",
]);

/**
 * Call it when it is known what the object asks for. `id`: of its remote; undefined: a create is asked for. The digest has
 * no value of a Secret. An annotation that asks for a reconcile makes it another request.
 */
export function noteAsked({ object, state }: ReconcileContext, desired: Desired, id: string | undefined): void {
  const asked = [id ?? "", desired.digest, desired.secrets, reconcileRequestedAt(object) ?? ""];
  state.asked = () => digestOf(asked);
}

/** Records for the next process, and for a plan, that the account refuses what the object asks for. */
export function noteRefusedRequest(context: ReconcileContext, error: ReconcileError): void {
  const { object, state } = context;
  const isRefusal = error.reason === "ReplacementRequired" || isGatewayError(error.cause);
  if (!(error instanceof Blocked) || !isRefusal || !REASONS.has(error.reason)) return;
  if (state.asked === undefined || isDeleting(object)) return;
  const before = recordOf(context);
  if (before && Date.parse(before.retryAt) > epochMs(context)) return;
  const { reason, message } = error;
  const retryAt = new Date(epochMs(context) + (before ? REFUSED_DELAYS.cap : REFUSED_DELAYS.base) * 1000).toISOString();
  state.next.refusedRequest = { digest: state.asked(), reason, message, retryAt };
}

/**
 * The error to throw when the answer to a create makes another create necessary. It counts as a failure of the service,
 * so the creates become rare.
 */
export const uselessCreate = ({ kind }: ReconcileContext, { id }: Remote, problem: string): GatewayError =>
  new GatewayError({ kind: "unreadable", method: "POST", route: kind.resource.path, problem: `${id} ${problem}`, id });

/**
 * The error with which an earlier process reported that the account refuses this very request. Undefined: none did, it is
 * time to try again, or this process has seen for itself what the account refuses.
 */
export function refusedBefore(context: ReconcileContext): RefusedBefore | undefined {
  const { account, memory, kind } = context;
  const record = recordOf(context);
  if (!record || context.record.hasFailed) return undefined;
  if (record.reason === "ReplacementRequired" && account.operations.of(kind.resource, "update") !== "supported")
    return undefined;
  if (memory.retriesRefused && Date.parse(record.retryAt) <= epochMs(context)) return undefined;
  return new RefusedBefore(record.reason, record.message);
}

/** Whether it is on record that the service lacks the operation that the object asks for. */
export const wasReplacementRequired = (context: ReconcileContext): boolean =>
  recordOf(context)?.reason === "ReplacementRequired";

function recordOf({ object, state }: ReconcileContext): RefusedRequest | undefined {
  const { refusedRequest } = object.status ?? {};
  return refusedRequest !== undefined && refusedRequest.digest === state.asked?.() ? refusedRequest : undefined;
}
