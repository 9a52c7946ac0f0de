import type { Failure } from "../account/failures.ts";
import { retryAfterSeconds } from "../objects/map-error.ts";
import { conditionOf, isObserveOnly } from "../objects/object.ts";
import { type ReconcileError, Retry } from "../objects/reconcile-error.ts";
import type { Result } from "../runtime/controller/controller.ts";
import { listOf } from "../schema/define.ts";
import { needsOf } from "../schema/wire/needs.ts";
import { now, type ReconcileContext, retiringOf, serviceNow } from "./context.ts";
import type { Outcome } from "./status/report.ts";
import { failureOf } from "./too-soon.ts";

/** How soon a remote that was just replaced is checked, whether it may be deleted. */
const RETIRING_SECONDS = 2;

export interface RequeueOptions {
  /** How often an object is due whose inputs or remote can change without a watch or a list showing it. Seconds. */
  resyncSeconds: number;
  /** Secrets are watched, so a missing Secret need not be polled for. */
  secretsWatched?: boolean;
}

/** When an object is due again after a reconcile with this outcome. */
export function resultOf(context: ReconcileContext, outcome: Outcome, options: RequeueOptions): Result {
  if (outcome.type === "paused" || outcome.type === "released") return {};
  if (outcome.type === "unfinished") return resultOfError(context, outcome.error, options);
  const times = [outcome.readiness.afterSeconds, outcome.afterSeconds, ...requeueTimes(context, options)].filter(
    (seconds) => seconds !== undefined,
  );
  return times.length > 0 ? { requeueAfterSeconds: Math.min(...times) } : {};
}

/** Seconds until each thing for which a settled object is due again. */
function requeueTimes(context: ReconcileContext, { resyncSeconds }: RequeueOptions): (number | undefined)[] {
  const { kind, object, state } = context;
  const renewsAt = state.remote && kind.renewsAt(state.remote, object.spec);
  const needsResync = kind.output !== undefined || listOf(kind) === undefined || hasUnwatchedInputs(context);
  return [
    ...retiringOf(context).map((id) => context.account.deferredDeletes.secondsUntil(id) || RETIRING_SECONDS),
    renewsAt === undefined ? undefined : Math.max((renewsAt - serviceNow(context)) / 1000, 1),
    needsResync ? resyncSeconds : undefined,
  ];
}

/** Whether the spec refers to a ConfigMap or Secret whose changes no watch may report. */
const hasUnwatchedInputs = ({ kind, object }: ReconcileContext): boolean =>
  needsOf(kind.spec, object.spec).some(
    ({ type }) => type === "configMap" || (type === "secret" && !isObserveOnly(object)),
  );

function resultOfError(
  context: ReconcileContext,
  error: ReconcileError,
  { resyncSeconds, secretsWatched }: RequeueOptions,
): Result {
  const failure = failureOf(context, error);
  if (failure) return { requeueAfterSeconds: secondsUntilRetry(context, failure, resyncSeconds) };
  if (error.reason === "SecretNotReady")
    return { requeueAfterSeconds: secretsWatched ? resyncSeconds : secretPollSeconds(context) };
  const seconds = retryAfterSeconds(error);
  if (seconds === undefined) return { backoff: true };
  if (error instanceof Retry) return { backoff: true, atLeastSeconds: seconds };
  // A person may correct the error in a ConfigMap or Secret, which nothing reports.
  const mayBeMended = MENDED_BY_INPUTS.has(error.reason) && hasUnwatchedInputs(context);
  return { requeueAfterSeconds: mayBeMended ? Math.min(seconds, resyncSeconds) : seconds };
}

/** Reasons that depend on what a spec refers to. To look at these again costs no request. */
const MENDED_BY_INPUTS: ReadonlySet<string> = new Set(["InvalidSpec", "ImmutableField", "ReplacementRequired"]);

/** A look before that sends nothing, unless what the spec refers to has changed meanwhile. */
function secondsUntilRetry(context: ReconcileContext, { inputs }: Failure, resyncSeconds: number): number {
  const seconds = context.account.failures.secondsLeft(context.object.metadata.uid);
  return inputs !== undefined && hasUnwatchedInputs(context) ? Math.min(seconds, resyncSeconds) : seconds;
}

/** A Secret that is not watched is polled: each second at first, and at most every 30 seconds later. */
function secretPollSeconds(context: ReconcileContext): number {
  const since = Date.parse(conditionOf(context.object.status, "Ready")?.lastTransitionTime ?? "") || now(context);
  return Math.min(Math.max((now(context) - since) / 4000, 1), 30);
}
