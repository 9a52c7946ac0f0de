export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** The fields of a Status object, or the text that came instead of one. */
export interface Refusal {
  status: number;
  message: string;
  reason?: string | undefined;
  causes?: readonly StatusCause[] | undefined;
  retryAfterSeconds?: number | undefined;
}

/** The API server refused a request. */
export class KubeError extends Error {
  override readonly name = "KubeError";
  /** HTTP status code */
  readonly status: number;
  /** `NotFound`, `Conflict`, `Invalid`...; absent when the answer was not a Status object. */
  readonly reason: string | undefined;
  readonly causes: readonly StatusCause[];
  readonly retryAfterSeconds: number | undefined;

  constructor({ status, message, reason, causes, retryAfterSeconds }: Refusal) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.causes = causes ?? [];
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * No answer arrived: no connection, no credentials, a lost connection or a timeout. A write may have been carried out.
 */
export class KubeUnreachable extends Error {
  override readonly name = "KubeUnreachable";
  /** `ECONNREFUSED`, `UND_ERR_SOCKET`...; `ETIMEDOUT` when the deadline passed. */
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const statusIs =
  (...statuses: number[]) =>
  (error: unknown): error is KubeError =>
    error instanceof KubeError && statuses.includes(error.status);

export const isNotFound = statusIs(404);
export const isForbidden = statusIs(403);
export const isUnauthorized = statusIs(401);
export const isInvalid = statusIs(422);
/**
 * The server refuses what was sent, or whom it comes from: a right, the object or the namespace is missing, or admission
 * denies it. The same request would be refused again.
 */
export const isRefusal = statusIs(400, 403, 404, 422);
/** A `test` of a JSON patch failed. A 422 for an invalid object has causes, one for each field. */
export const isFailedTest = (error: unknown): error is KubeError => isInvalid(error) && error.causes.length === 0;
export const isTooManyRequests = statusIs(429);

/** The server no longer has the requested resourceVersion, or does not have it yet. List again. */
export const isGone = (error: unknown): error is KubeError =>
  error instanceof KubeError &&
  (error.status === 410 || error.causes.some((c) => c.reason === "ResourceVersionTooLarge"));

/** Another client has written the object, or another object has taken its name. */
export const isConflict = (error: unknown): error is KubeError =>
  error instanceof KubeError && error.status === 409 && error.reason !== "AlreadyExists";

export const isAlreadyExists = (error: unknown): error is KubeError =>
  error instanceof KubeError && error.status === 409 && error.reason === "AlreadyExists";

/** The server does not serve the kind, since its CRD is not installed. Such a 404 is plain text without a reason. */
export const isKindAbsent = (error: unknown): error is KubeError =>
  error instanceof KubeError && error.status === 404 && error.reason === undefined;

export const isUnreachable = (error: unknown): error is KubeUnreachable => error instanceof KubeUnreachable;

interface Status {
  message?: string;
  reason?: string;
  code?: number;
  details?: { causes?: StatusCause[]; retryAfterSeconds?: number };
}

/** The error for any answer: its body may be a Status, other JSON, plain text or empty. */
export function kubeErrorOf(status: number, body: string, retryAfter?: string): KubeError {
  const parsed = parseStatus(body);
  const text = body.trim().slice(0, 200);
  return new KubeError({
    status,
    message: parsed?.message ?? (text || `HTTP ${status}`),
    reason: parsed?.reason,
    causes: parsed?.details?.causes,
    retryAfterSeconds: bounded(secondsOf(retryAfter) ?? parsed?.details?.retryAfterSeconds),
  });
}

/** The error for the object of a watch event of type ERROR. */
export function kubeErrorOfStatus(object: unknown): KubeError {
  const status = isStatus(object) ? object : {};
  return kubeErrorOf(status.code ?? 500, JSON.stringify({ ...status, kind: "Status" }));
}

function parseStatus(body: string): Status | undefined {
  if (!body.startsWith("{")) return undefined;
  try {
    const parsed: unknown = JSON.parse(body);
    return isStatus(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

const isStatus = (value: unknown): value is Status =>
  typeof value === "object" && value !== null && "kind" in value && value.kind === "Status";

/** Limits Retry-After, so that one wrong answer of a proxy does not stop a watch for good. */
const LONGEST_WAIT_SECONDS = 300;

const bounded = (seconds: number | undefined): number | undefined => seconds && Math.min(seconds, LONGEST_WAIT_SECONDS);

function secondsOf(retryAfter: string | undefined): number | undefined {
  if (!retryAfter) return undefined;
  const seconds = Number(retryAfter);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}
