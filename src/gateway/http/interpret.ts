import { isFault, proxyAdvice, proxyStatusOf } from "../../http/fault.ts";
import type { Reply } from "../../http/send.ts";
import { type Failure, GatewayError, kindOfStatus, PROXY_REFUSED, statusLine } from "../errors.ts";
import { UnreadableAnswer } from "../read.ts";
import type { Quoting, Redact } from "./redact.ts";
import { refusalOf } from "./refusal.ts";

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

  if (reply.got === "nothing") throw fail(withoutAnswer(reply, quoteText));

  const { status } = reply;
  if (status >= 300) {
    const refusal = refusalOf(reply, quoting);
    throw fail({ kind: kindOfStatus(status), status, ...refusal, problem: describe(status, refusal) });
  }

  if (reply.got === "head") {
    const cause = messageOnly(reply.why, quoteText);
    const kind = reply.refused ? "unreadable" : "unknown";
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

/** An exchange without a status line of the service. */
function withoutAnswer(
  { why, sent }: Extract<Reply, { got: "nothing" }>,
  quote: Redact,
): Pick<Failure, "kind" | "problem" | "code" | "cause"> {
  const cause = messageOnly(why, quote);
  const code = proxyStatusOf(why) === undefined ? undefined : PROXY_REFUSED;
  if (!sent) return { kind: "unsent", problem: `not sent: ${cause.message}`, code, cause };
  return { kind: "unknown", problem: `sent, but no complete answer came: ${cause.message}`, code, cause };
}

function describe(
  status: number,
  { code, serviceMessage }: { code?: string | undefined; serviceMessage?: string | undefined },
) {
  const line = code ? `${statusLine(status)} (${code})` : statusLine(status);
  return serviceMessage ? `${line}: ${serviceMessage}` : line;
}

/**
 * A copy with message and code only: errors of an HTTP parser also hold what was received. Of a mistake of the program the
 * copy also says where it happened.
 */
function messageOnly(error: Error, quote: Redact): Error {
  const refusal = proxyStatusOf(error);
  if (refusal !== undefined) return new Error(proxyAdvice(refusal));
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  // errors that are made here have no code, and no words of others
  const words = code === undefined && error.constructor === Error ? error.message : quote(error.message);
  const kept = new Error(words || code || error.name);
  kept.name = error.name;
  if (isFault(error)) kept.stack = [`${error.name}: ${kept.message}`, ...framesOf(error)].join("\n");
  return Object.assign(kept, code && { code });
}

const framesOf = ({ stack = "" }: Error): string[] => stack.split("\n").filter((line) => /^ {4}at /.test(line));
