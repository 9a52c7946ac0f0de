import { type GatewayError, isGatewayError, LONGEST_PAUSE_MS, NO_API_KEY, PROXY_REFUSED } from "../gateway/errors.ts";
import { Blocked, isReconcileError, Outdated, type ReconcileError, Retry } from "./reconcile-error.ts";

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
  const text = error.serviceMessage ?? error.message;
  const { retryAfterSeconds: seconds } = error;
  const after = seconds === undefined ? {} : { afterSeconds: Math.min(seconds, LONGEST_PAUSE_MS / 1000) };
  const options = { cause: error, ...after };
  switch (error.kind) {
    case "limited":
      return new Retry("RateLimited", "Waiting as the service asked: it has had too many requests", options);
    case "unsent":
      return error.code === NO_API_KEY
        ? new Retry("AccountNotReady", withoutKey(error), options)
        : unavailable(error, text, options);
    case "unknown":
    case "failed":
      return unavailable(error, text, options);
    case "unreadable":
    case "redirected":
      return unexpected(text, options);
    case "refused":
      return refused(error, text, options);
  }
}

/** The words about a key are the program's own, and never quote it. */
const withoutKey = ({ cause }: GatewayError): string =>
  `Set the API key of the account, or of the operator: ${wordsOf(cause).replace(/^the API key/, "it")}`;

const wordsOf = (cause: unknown): string => (cause instanceof Error ? cause.message : "it could not be read");

type Options = ConstructorParameters<typeof Retry>[2];

function unavailable({ code }: GatewayError, text: string, options: Options): Retry {
  const wayOut =
    code === PROXY_REFUSED ? "Check the proxy to the service" : "Waiting for the service, no action is needed";
  return new Retry("ServiceUnavailable", `${wayOut}: ${text}`, options);
}

const unexpected = (text: string, options: Options): Retry =>
  new Retry("UnexpectedResponse", `Check GATEWAY_BASE_URL and the state of the service: ${text}`, options);

/**
 * The API page states no quota. By the HTTP standard 402 means one, and so does an error code of the service that
 * contains the word.
 */
const isQuota = ({ status, code = "" }: GatewayError): boolean =>
  status === 402 || /QUOTA|LIMIT_(EXCEEDED|REACHED)/i.test(code);

/** What a person can do about a refusal. In a message, the answer of the service follows. */
const WAYS_OUT = {
  QuotaExceeded: "Raise the limit of the account, or delete what you need no more in it",
  Forbidden: "Give the API key's owner the permission, or use another key",
  InvalidSpec: "Correct the spec: the service refused it",
} as const;

/** The end of the advice in a message about a refused change. */
export const CHANGE_REFUSED = "the service refused the change";

/** Splits a message about a refusal into advice and answer. Undefined for any other message. */
export function refusalIn(message: string): { wayOut: string; answer: string } | undefined {
  for (const end of [...Object.values(WAYS_OUT), CHANGE_REFUSED]) {
    const [before, ...after] = message.split(`${end}: `);
    if (after.length > 0) return { wayOut: `${before}${end}`, answer: after.join(`${end}: `) };
  }
  return undefined;
}

function refused(error: GatewayError, text: string, options: Options): ReconcileError {
  const blocked = (reason: keyof typeof WAYS_OUT) =>
    new Blocked(reason, `${WAYS_OUT[reason]}: ${text}`, { cause: error });
  if (error.status === 401) {
    const what = `Check the API key and what it may do: the service refused it at ${error.method} ${error.route}`;
    return new Blocked("Unauthorized", `${what} (${text})`, { cause: error });
  }
  if (isQuota(error)) return blocked("QuotaExceeded");
  if (error.status === 403) return blocked("Forbidden");
  return isAboutContent(error) ? blocked("InvalidSpec") : unexpected(text, options);
}

/**
 * By the HTTP standard, these status codes mean that the content of the request may be wrong: its values, its
 * references or its size. Other codes concern the method, the connection or the time. A GET has no content.
 */
const isAboutContent = ({ method, status = 0 }: GatewayError): boolean =>
  method !== "GET" && [400, 404, 409, 413, 422].includes(status);
