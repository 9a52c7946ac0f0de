import { createRequire } from "node:module";
import { faultIn } from "../http/fault.ts";

export { faultIn } from "../http/fault.ts";

// An import would load all that node:http exports, and with it the fetch and the WebSockets of Node: 13 MiB.
const { STATUS_CODES } = createRequire(import.meta.url)("node:http") as typeof import("node:http");

/** The `code` of a call that was not sent, since there is no usable API key. Its cause says why. */
export const NO_API_KEY = "no_api_key";

/** The `code` of a call that a proxy refused to pass on. */
export const PROXY_REFUSED = "proxy_refused";

/**
 * How a call failed. Callers act on this.
 *
 * - `unsent`: the service did not receive the request: the name was not resolved, the connection or TLS failed, the
 *   call was aborted before it was written, there is no usable API key, or the call is invalid (empty id).
 * - `unknown`: the request was sent, and no complete answer came: timeout, lost connection or abort. The service may or
 *   may not have carried it out.
 * - `unreadable`: the answer is 2xx, but does not have the form of the API page. The service carried out the request.
 *   The error has an `id` if the answer had one.
 * - `refused`: 4xx.
 * - `limited`: 429.
 * - `failed`: 5xx. The service may or may not have carried out a write.
 * - `redirected`: 3xx. Redirects are not followed.
 */
export type FailureKind = "unsent" | "unknown" | "unreadable" | "refused" | "limited" | "failed" | "redirected";

export interface Failure {
  readonly kind: FailureKind;
  readonly method: string;
  /** Path template, without ids. */
  readonly route: string;
  /** What happened, for people. It is a part of the message. */
  readonly problem: string;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly serviceMessage?: string | undefined;
  readonly operationId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly id?: string | undefined;
  readonly cause?: Error | undefined;
}

/** The only error of the client. It contains no API key, no secret of a request and no unredacted answer. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly kind: FailureKind;
  readonly method: string;
  readonly route: string;
  /** Set when a status line was received. */
  readonly status: number | undefined;
  /** The service's `error_code`, or NO_API_KEY, or PROXY_REFUSED. */
  readonly code: string | undefined;
  /** The message of the service: one line of at most 200 characters, secrets of the request masked. */
  readonly serviceMessage: string | undefined;
  /** The service's id of the call, to quote to its support. */
  readonly operationId: string | undefined;
  /** Seconds from `Retry-After`, at any status; an hour at most. */
  readonly retryAfterSeconds: number | undefined;
  /** The id of the resource in an unreadable answer. */
  readonly id: string | undefined;
  /** The mistake of the program that made the call fail. It says nothing about the service. */
  readonly fault: Error | undefined;

  constructor(failure: Failure) {
    super(`${failure.method} ${failure.route}: ${failure.problem}`, failure.cause && { cause: failure.cause });
    this.kind = failure.kind;
    this.method = failure.method;
    this.route = failure.route;
    this.status = failure.status;
    this.code = failure.code;
    this.serviceMessage = failure.serviceMessage;
    this.operationId = failure.operationId;
    this.retryAfterSeconds = failure.retryAfterSeconds;
    this.id = failure.id;
    this.fault = faultIn(failure.cause);
  }
}

/** Such as `503 Service Unavailable`: with the words of the HTTP standard, not those of the service. */
export const statusLine = (status: number): string => `${status} ${STATUS_CODES[status] ?? "Unknown Status"}`;

/** The kind of failure for a status that is not 2xx. */
export function kindOfStatus(status: number): FailureKind {
  if (status === 429) return "limited";
  if (status < 400) return "redirected";
  return status < 500 ? "refused" : "failed";
}

export const isGatewayError = (error: unknown): error is GatewayError => error instanceof GatewayError;

const hasStatus =
  (...statuses: readonly number[]) =>
  (error: unknown): error is GatewayError =>
    isGatewayError(error) && error.status !== undefined && statuses.includes(error.status);

export const isUnauthorized = hasStatus(401);
export const isForbidden = hasStatus(403);
export const isNotFound = hasStatus(404);
/** 405 or 501: the service does not have the operation. It may answer 404 instead. */
export const isUnsupported = hasStatus(405, 501);

const isKind =
  (...kinds: readonly FailureKind[]) =>
  (error: unknown): error is GatewayError =>
    isGatewayError(error) && kinds.includes(error.kind);

/**
 * Whether the service may have carried the change out. Only a change that was not sent is certain not to be: the API page
 * states no status codes of failures, so none of them proves anything.
 */
export const mayBeCarriedOut = (error: unknown): boolean => isGatewayError(error) && error.kind !== "unsent";

/**
 * By the HTTP standard, an answer with one of these status codes comes from whoever decides about the request, and ends
 * it. Other codes may come from a proxy that gave up, such as 408, 502 and 504, or have no meaning that is known here.
 */
const ENDING: ReadonlySet<number> = new Set([
  ...[200, 201, 204, 400, 401, 402, 403, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 422, 428, 429, 431, 451],
]);

/** Whether the service may carry out the change after this error, since no answer has ended the request. */
export const mayArriveLate = (error: unknown): boolean =>
  isGatewayError(error) && error.kind !== "unsent" && !ENDING.has(error.status ?? 0);

/** Whether nobody has said that the change is not carried out. */
export const isUnanswered = (error: unknown): boolean => mayArriveLate(error) || isKind("unreadable")(error);

export const isLimited = isKind("limited");
/** The service could not be reached or could not answer. The request itself is not at fault. */
export const isUnavailable = (error: unknown): error is GatewayError =>
  isKind("unsent", "unknown", "failed")(error) && error.fault === undefined;

/** A longer `Retry-After` is cut to this, so that a mistake of the service does not last for ever. */
export const LONGEST_PAUSE_MS = 10 * 60_000;
