import { type GatewayError, isGatewayError, LONGEST_PAUSE_MS, NO_API_KEY } from "../gateway/errors.ts";
import { Blocked, isReconcileError, Outdated, type ReconcileError, Retry } from "./reconcile-error.ts";

/** A stalled object is looked at again after this long, even if nothing is known to have changed. */
const STALLED_SECONDS = 30 * 60;

/**
 * The one place where a failure becomes a ReconcileError. Undefined: nothing to tell anybody, the object is looked at again.
 * What is no failure of the world but a fault in the program is thrown on.
 */
export function reconcileErrorOf(error: unknown): ReconcileError | undefined {
  if (isReconcileError(error)) return error;
  if (isGatewayError(error)) return fromGatewayError(error);
  if (error instanceof Outdated) return undefined;
  throw error;
}

/** When to look again at the latest; undefined leaves it to the growing delay between attempts. */
export function retryAfterSeconds(error: ReconcileError): number | undefined {
  return error.afterSeconds ?? (error instanceof Blocked ? STALLED_SECONDS : undefined);
}

function fromGatewayError(error: GatewayError): ReconcileError {
  const words = error.serviceMessage ?? error.message;
  const asked = error.retryAfterSeconds;
  const after = asked === undefined ? {} : { afterSeconds: Math.min(asked, LONGEST_PAUSE_MS / 1000) };
  const options = { cause: error, ...after };
  switch (error.kind) {
    case "limited":
      return new Retry("RateLimited", "Waiting as the service asked: it has had too many requests", options);
    case "unsent":
      return error.code === NO_API_KEY
        ? new Retry(
            "AccountNotReady",
            "Set the API key of the account, or of the operator: it could not be read",
            options,
          )
        : unavailable(words, options);
    case "unknown":
    case "failed":
      return unavailable(words, options);
    case "unreadable":
    case "redirected":
      return new Retry("UnexpectedResponse", `Check GATEWAY_BASE_URL and the state of the service: ${words}`, options);
    case "refused":
      return refused(error, words);
  }
}

const unavailable = (words: string, options: ConstructorParameters<typeof Retry>[2]): Retry =>
  new Retry("ServiceUnavailable", `Waiting for the service, no action is needed: ${words}`, options);

function refused(error: GatewayError, words: string): ReconcileError {
  if (error.status === 401) {
    return new Blocked("Unauthorized", `Check the API key: the service does not accept it (${words})`, {
      cause: error,
    });
  }
  if (error.status === 403) {
    return new Blocked("Forbidden", `Give the API key's owner the permission, or use another key: ${words}`, {
      cause: error,
    });
  }
  return new Blocked("InvalidSpec", `Correct the spec: the service refused it: ${words}`, { cause: error });
}
