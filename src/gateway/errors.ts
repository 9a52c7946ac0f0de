import { STATUS_CODES } from "node:http";

/** The `code` of a call that was not sent because there is no usable API key. */
export const NO_API_KEY = "no_api_key";

/**
 * What is known of a call that failed, which is what a caller has to act on.
 *
 * - `unsent`: it surely never reached the service: name not resolved, connection or TLS refused, stopped before it was
 *   written, no usable API key, or a call that makes no sense (empty id).
 * - `unknown`: sent, and no complete answer came: time-out, reset, cut, stopped. It may or may not have been done.
 * - `unreadable`: answered 2xx, but not as the API page says. It was done; `id` is there if one could be read.
 * - `refused`: 4xx.
 * - `limited`: 429.
 * - `failed`: 5xx. For anything that writes, the outcome is unknown.
 * - `redirected`: 3xx; it is never followed.
 */
export type FailureKind = "unsent" | "unknown" | "unreadable" | "refused" | "limited" | "failed" | "redirected";

export interface Failure {
  readonly kind: FailureKind;
  readonly method: string;
  /** Path template, never with an id in it. */
  readonly route: string;
  /** What happened, for people; goes into the message. */
  readonly problem: string;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly serviceMessage?: string | undefined;
  readonly operationId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly id?: string | undefined;
  readonly cause?: Error | undefined;
}

/** The only error the client rejects with. Holds no API key, no secret of a request, and no raw answer. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly kind: FailureKind;
  readonly method: string;
  readonly route: string;
  /** Present when a status line came. */
  readonly status: number | undefined;
  /** The service's `error_code`, or NO_API_KEY. */
  readonly code: string | undefined;
  /** The service's own words: one line, at most 200 characters, secrets of the request masked. */
  readonly serviceMessage: string | undefined;
  /** The service's id of the call, to quote to its support. */
  readonly operationId: string | undefined;
  /** What the service asked to wait, in seconds, whatever the status; an hour at most. */
  readonly retryAfterSeconds: number | undefined;
  /** Of the resource that an unreadable answer is about. */
  readonly id: string | undefined;

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
  }
}

/** `503 Service Unavailable`, in the standard's words and not the service's. */
export const statusLine = (status: number): string => `${status} ${STATUS_CODES[status] ?? "Unknown Status"}`;

/** What a failing status means; 2xx is not one. */
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

/** 400: also how some services answer a malformed id, or the deletion of something in use. */
export const isBadRequest = hasStatus(400);
export const isUnauthorized = hasStatus(401);
export const isForbidden = hasStatus(403);
export const isNotFound = hasStatus(404);
/** 405 or 501: the service does not have the operation. It may say 404 just as well. */
export const isUnsupported = hasStatus(405, 501);
export const isConflict = hasStatus(409);

const isKind =
  (...kinds: readonly FailureKind[]) =>
  (error: unknown): error is GatewayError =>
    isGatewayError(error) && kinds.includes(error.kind);

/** For a call that writes: nobody can tell from the answer whether it was done. */
export const isOutcomeUnknown = isKind("unknown", "failed");
export const isUnreadable = isKind("unreadable");
export const isLimited = isKind("limited");
/** The service could not be reached, or could not answer: no fault of the request. */
export const isUnavailable = isKind("unsent", "unknown", "failed");

/** The longest time that a `Retry-After` of the service is heeded, so that a mistake of its own does not last for ever. */
export const LONGEST_PAUSE_MS = 10 * 60_000;
