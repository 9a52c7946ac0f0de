import type { Failure } from "../account/object-record.ts";
import { retryAfterSeconds } from "../objects/map-error.ts";
import { conditionOf, isObserveOnly } from "../objects/object.ts";
import { type ReconcileError, RefusedBefore, Retry } from "../objects/reconcile-error.ts";
import type { Result } from "../runtime/controller/controller.ts";
import { listOf } from "../schema/define.ts";
import { needsOf } from "../schema/wire/needs.ts";
import { epochMs, type ReconcileContext, retiringOf, secondsUntilMark, serviceEpochMs } from "./context.ts";
import type { Outcome } from "./status/report.ts";
import { recordedFailure } from "./too-soon.ts";

/** Seconds until the next check whether a remote that was just replaced may be deleted. */
const RETIRING_SECONDS = 2;

export interface RequeueOptions {
  /** Seconds until an object is due again whose inputs or remote can change without a watch or a list showing it. */
  resyncSeconds: number;
  /** Whether Secrets are watched. If so, a missing Secret need not be polled for. */
  secretsWatched?: boolean;
}

/** When an object is due again after a reconcile with this outcome. */
export function resultOf(context: ReconcileContext, outcome: Outcome, options: RequeueOptions): Result {
  if (outcome.type === "paused" || outcome.type === "released" || outcome.type === "queued") return {};
  if (outcome.type === "unfinished") return resultOfError(context, outcome.error, options);
  const times = [outcome.readiness.afterSeconds, outcome.afterSeconds, ...requeueTimes(context, options)].filter(
    (seconds) => seconds !== undefined,
  );
  return times.length > 0 ? { requeueAfterSeconds: Math.min(...times) } : {};
}

/** The times, in seconds, at which a settled object is due again, one for each reason. */
function requeueTimes(context: ReconcileContext, { resyncSeconds }: RequeueOptions): (number | undefined)[] {
  const { kind, object, state } = context;
  // An object that only observes renews nothing.
  const renewsAt = state.remote && !isObserveOnly(object) && kind.renewsAt(state.remote, object.spec);
  const needsResync = kind.output !== undefined || listOf(kind) === undefined || hasUnwatchedInputs(context);
  return [
    ...retiringOf(context).map((id) => context.record.secondsUntilDelete(id) || RETIRING_SECONDS),
    renewsAt ? Math.max((renewsAt - serviceEpochMs(context)) / 1000, 1) : undefined,
    needsResync ? resyncSeconds : undefined,
    (state.remote && secondsUntilMark(context, state.remote.id)) || undefined,
  ];
}

/** Whether the spec refers to a ConfigMap or Secret that is not watched. */
const hasUnwatchedInputs = ({ kind, object }: ReconcileContext): boolean =>
  needsOf(kind.spec, object.spec).some(
    ({ type }) => type === "configMap" || (type === "secret" && !isObserveOnly(object)),
  );

function resultOfError(
  context: ReconcileContext,
  error: ReconcileError,
  { resyncSeconds, secretsWatched }: RequeueOptions,
): Result {
  const failure = recordedFailure(context, error);
  if (failure) return { requeueAfterSeconds: secondsUntilRetry(context, failure, resyncSeconds) };
  const wasRefused = error instanceof RefusedBefore;
  if (error.reason === "SecretNotReady" && !wasRefused)
    return { requeueAfterSeconds: secretsWatched ? resyncSeconds : secretPollSeconds(context) };
  const seconds = retryAfterSeconds(error);
  if (seconds === undefined) return { backoff: true };
  if (error instanceof Retry) return { backoff: true, atLeastSeconds: seconds };
  // A person may correct the error in a ConfigMap or Secret that is not watched.
  const mayBeMended = (wasRefused || MENDED_BY_INPUTS.has(error.reason)) && hasUnwatchedInputs(context);
  return { requeueAfterSeconds: mayBeMended ? Math.min(seconds, resyncSeconds) : seconds };
}

/** Reasons that depend on the objects to which the spec refers. Reading these again costs no request to the service. */
const MENDED_BY_INPUTS: ReadonlySet<string> = new Set(["InvalidSpec", "ImmutableField", "ReplacementRequired"]);

/**
 * Seconds until the service is asked again. An earlier reconcile sends nothing, unless the referenced values have
 * changed.
 */
function secondsUntilRetry(context: ReconcileContext, { inputs }: Failure, resyncSeconds: number): number {
  const seconds = context.account.failures.secondsLeft(context.record);
  return inputs !== undefined && hasUnwatchedInputs(context) ? Math.min(seconds, resyncSeconds) : seconds;
}

/** Seconds until the next look for a Secret that is not watched: 1 at first, 30 at most. */
function secretPollSeconds(context: ReconcileContext): number {
  const since = Date.parse(conditionOf(context.object.status, "Ready")?.lastTransitionTime ?? "") || epochMs(context);
  return Math.min(Math.max((epochMs(context) - since) / 4000, 1), 30);
}
