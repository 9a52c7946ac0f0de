import { timestamp } from "../../schema/time.ts";
import type { ReconcileError } from "../reconcile-error.ts";
import { blocked, retry, waiting } from "./declare.ts";
import type { Answer } from "./values.ts";

// What the service answers, or does not. `answer`: its own words.

export const tooManyRequests = retry(
  "RateLimited",
  () => "Waiting as the service asked: it has had too many requests",
  {},
);

/** `end`: epoch milliseconds. */
export const pausedUntil = waiting(
  "RateLimited",
  ({ end }: { end: number }) =>
    `Waiting until ${timestamp(end)}, no action is needed: the service has had too many requests and asked for a pause`,
  { end: Date.UTC(2026, 0, 10, 12, 10) },
);

export const serviceUnavailable = retry(
  "ServiceUnavailable",
  ({ answer, isProxy = false }: Answer & { isProxy?: boolean }) =>
    `${isProxy ? "Check the proxy to the service" : "Waiting for the service, no action is needed"}: ${answer}`,
  { answer: "GET /ip_policies: sent, but no complete answer came: other side closed" },
  {
    answer: "GET /ip_policies: not sent: correct the user and the password of the proxy, which answered 407",
    isProxy: true,
  },
);

export const answerUnexpected = retry(
  "UnexpectedResponse",
  ({ answer }: Answer) => `Check GATEWAY_BASE_URL and the state of the service: ${answer}`,
  { answer: "GET /ip_policies: 200 OK, but the answer is not JSON" },
);

export const deleteRefused = retry(
  "UnexpectedResponse",
  ({ title, answer }: Answer & { title: string }) =>
    `Check the state of the service: it refuses to delete this ${title}: ${answer}`,
  { title: "IP policy", answer: "the policy is locked" },
);

/** `way`: how the operator gets more memory. */
export const listTooLarge = retry(
  "UnexpectedResponse",
  ({ way, what }: { way: string; what: string }) => `${way}: there is no room for ${what}`,
  { way: "Raise the memory limit of the operator", what: "the list of each IP policy" },
);

/** A fault of the program. `what`: the name of the error. */
export const listFault = retry(
  "UnexpectedResponse",
  ({ title, what }: { title: string; what: string }) =>
    `Report this fault of the operator, with its log: the list of each ${title} cannot be read (${what})`,
  { title: "IP policy", what: "TypeError" },
);

/** `of`: why the list fails. `since`: a time for people. */
export const listFailing = retry(
  ({ of }: { of: Pick<ReconcileError, "reason" | "message">; since: string }) => of.reason,
  ({ of, since }) => `Changes in the account are not seen since ${since}: ${of.message}`,
  {
    of: {
      reason: "UnexpectedResponse",
      message: answerUnexpected.textOf({ answer: "GET /ip_policies: 200 OK, but the answer is not JSON" }),
    },
    since: "2026-01-10T12:00:00Z",
  },
);

export const keyRefused = blocked(
  "Unauthorized",
  ({ method, route, answer }: Answer & { method: string; route: string }) =>
    `Check the API key and what it may do: the service refused it at ${method} ${route} (${answer})`,
  { method: "GET", route: "/ip_policies", answer: "invalid token" },
);

export const quotaExceeded = blocked(
  "QuotaExceeded",
  ({ answer }: Answer) => `Raise the limit of the account, or delete what you need no more in it: ${answer}`,
  { answer: "3 of 3 reserved domains are in use" },
);

export const notPermitted = blocked(
  "Forbidden",
  ({ answer }: Answer) => `Give the API key's owner the permission, or use another key: ${answer}`,
  { answer: "not allowed" },
);

export const specRefused = blocked(
  "InvalidSpec",
  ({ answer }: Answer) => `Correct the spec: the service refused it: ${answer}`,
  { answer: "region is not available for this account" },
);

export const secretsRefused = blocked(
  "SecretNotReady",
  ({ names, answer }: Answer & { names: readonly string[] }) =>
    `Correct ${names.map((name) => `Secret "${name}"`).join(" and ")}: the service refused the new content: ${answer}`,
  { names: ["shop-tls"], answer: "POST /tls_certificates: 400 Bad Request" },
);

/** `fields`: as `specFields` names them. `title`: set where the spec can ask for another remote. */
export const changeRefused = blocked(
  "UpdateUnsupported",
  ({ fields, title, answer }: Answer & { fields: string; title: string | undefined }) => {
    const way =
      title === undefined
        ? "delete this object and create it again"
        : `set replacement: Recreate to delete the ${title} and create it again`;
    return `Correct ${fields}, or ${way}: the service refused the change: ${answer}`;
  },
  { fields: "spec.format", title: "event destination", answer: "format cannot be updated" },
);

/** How these texts go on before the answer of the service, which is their end. */
const beforeAnswer = (): string[] =>
  [
    quotaExceeded.textOf({ answer: "" }),
    notPermitted.textOf({ answer: "" }),
    specRefused.textOf({ answer: "" }),
    secretsRefused.textOf({ names: [], answer: "" }),
    changeRefused.textOf({ fields: "", title: undefined, answer: "" }),
  ].map((text) => text.slice(text.lastIndexOf(": ", text.length - 3) + 1).trimStart());

/**
 * The advice and the answer of the service in the message of a condition or an event. Undefined: the message is none of
 * those in `beforeAnswer`.
 */
export function adviceAndAnswerIn(message: string): { wayOut: string; answer: string } | undefined {
  for (const before of beforeAnswer()) {
    const [advice, ...after] = message.split(before);
    if (after.length > 0) return { wayOut: `${advice}${before.slice(0, -2)}`, answer: after.join(before) };
  }
  return undefined;
}
