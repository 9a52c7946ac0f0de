import { type GatewayError, isGatewayError, LONGEST_PAUSE_MS, NO_API_KEY, PROXY_REFUSED } from "../gateway/errors.ts";
import { apiKeyMissing } from "./errors/account.ts";
import {
  answerUnexpected,
  keyRefused,
  notPermitted,
  quotaExceeded,
  serviceUnavailable,
  specRefused,
  tooManyRequests,
} from "./errors/service.ts";
import { Blocked, isReconcileError, Outdated, type ReconcileError, type ReportOptions } from "./reconcile-error.ts";

/** A stalled object is reconciled again after this long, even without an event. */
const STALLED_SECONDS = 30 * 60;

/**
 * The one place where a failure becomes a ReconcileError. Undefined for Outdated: the status reports nothing, and the
 * object is reconciled again. Rethrows any other error, since it is a fault in the program.
 */
export function reconcileErrorOf(error: unknown): ReconcileError | undefined {
  if (isReconcileError(error)) return error;
  if (isGatewayError(error) && !error.fault) return fromGatewayError(error);
  if (error instanceof Outdated) return undefined;
  throw error;
}

/** Seconds until the next attempt at the latest; undefined leaves it to the backoff. */
export function retryAfterSeconds(error: ReconcileError): number | undefined {
  return error.afterSeconds ?? (error instanceof Blocked ? STALLED_SECONDS : undefined);
}

function fromGatewayError(error: GatewayError): ReconcileError {
  const answer = error.serviceMessage ?? error.message;
  const { retryAfterSeconds: seconds } = error;
  const after = seconds === undefined ? {} : { afterSeconds: Math.min(seconds, LONGEST_PAUSE_MS / 1000) };
  const options = { cause: error, ...after };
  switch (error.kind) {
    case "limited":
      return tooManyRequests({}, options);
    case "unsent":
      return error.code === NO_API_KEY
        ? apiKeyMissing({ problem: problemOf(error) }, options)
        : unavailable(error, answer, options);
    case "unknown":
    case "failed":
      return unavailable(error, answer, options);
    case "unreadable":
    case "redirected":
      return answerUnexpected({ answer }, options);
    case "refused":
      return refused(error, answer, options);
  }
}

/** The words about a key are the program's own, and never quote it. */
const problemOf = ({ cause }: GatewayError): string =>
  cause instanceof Error ? cause.message.replace(/^the API key/, "it") : "it could not be read";

const unavailable = ({ code }: GatewayError, answer: string, options: ReportOptions): ReconcileError =>
  serviceUnavailable({ answer, isProxy: code === PROXY_REFUSED }, options);

/**
 * The API page states no quota. By the HTTP standard 402 means one, and so does an error code of the service that
 * contains the word.
 */
const isQuota = ({ status, code = "" }: GatewayError): boolean =>
  status === 402 || /QUOTA|LIMIT_(EXCEEDED|REACHED)/i.test(code);

function refused(error: GatewayError, answer: string, options: ReportOptions): ReconcileError {
  const { status, method, route } = error;
  const refusal = { cause: error };
  if (status === 401) return keyRefused({ method, route, answer }, refusal);
  if (isQuota(error)) return quotaExceeded({ answer }, refusal);
  if (status === 403) return notPermitted({ answer }, refusal);
  return isAboutContent(error) ? specRefused({ answer }, refusal) : answerUnexpected({ answer }, options);
}

/**
 * By the HTTP standard, these status codes mean that the content of the request may be wrong: its values, its
 * references or its size. Other codes concern the method, the connection or the time. A GET has no content.
 */
const isAboutContent = ({ method, status = 0 }: GatewayError): boolean =>
  method !== "GET" && [400, 404, 409, 413, 422].includes(status);
