import { type Failure, GatewayError, kindOfStatus, statusLine } from "../errors.ts";
import { UnreadableAnswer } from "../read.ts";
import type { Quoting, Redact } from "./redact.ts";
import { refusalOf } from "./refusal.ts";
import type { Reply } from "./send.ts";

export interface Interpretation<T> extends Quoting {
  readonly method: string;
  readonly route: string;
  /** Reads the body of a complete 2xx answer. Throws UnreadableAnswer. */
  readonly read: (body: string) => T;
}

/** Turns a reply into a value or a GatewayError. No other place does. */
export function interpret<T>(
  { method, route, read, ...quoting }: Interpretation<T>,
  reply: Reply,
): { status: number; value: T } {
  const { quoteText } = quoting;
  const fail = (failure: Omit<Failure, "method" | "route">) => new GatewayError({ method, route, ...failure });

  if (reply.got === "nothing") {
    const cause = messageOnly(reply.why, quoteText);
    if (!reply.sent) throw fail({ kind: "unsent", problem: `not sent: ${cause.message}`, cause });
    throw fail({ kind: "unknown", problem: `sent, but no complete answer came: ${cause.message}`, cause });
  }

  const { status } = reply;
  if (status >= 300) {
    const refusal = refusalOf(reply, quoting);
    throw fail({ kind: kindOfStatus(status), status, ...refusal, problem: describe(status, refusal) });
  }

  if (reply.got === "head") {
    const cause = messageOnly(reply.why, quoteText);
    const kind = reply.tooLarge ? "unreadable" : "unknown";
    throw fail({
      kind,
      status,
      problem: `${statusLine(status)}, but no complete answer came: ${cause.message}`,
      cause,
    });
  }

  try {
    return { status, value: read(reply.body) };
  } catch (error) {
    if (!(error instanceof UnreadableAnswer)) throw error;
    const problem = `${statusLine(status)}, but ${quoteText(error.message) || "the answer is not as expected"}`;
    throw fail({ kind: "unreadable", status, problem, id: error.id });
  }
}

function describe(
  status: number,
  { code, serviceMessage }: { code?: string | undefined; serviceMessage?: string | undefined },
) {
  const line = code ? `${statusLine(status)} (${code})` : statusLine(status);
  return serviceMessage ? `${line}: ${serviceMessage}` : line;
}

/** A copy with message and code only: errors of an HTTP parser also hold what was received. */
function messageOnly(error: Error, quote: Redact): Error {
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  // errors that are made here have no code, and no words of others
  const words = code === undefined && error.constructor === Error ? error.message : quote(error.message);
  const kept = new Error(words || code || error.name);
  kept.name = error.name;
  return Object.assign(kept, code && { code });
}
