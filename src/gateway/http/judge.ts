import { type Failure, GatewayError, kindOfStatus, statusLine } from "../errors.ts";
import { Malformed } from "../read.ts";
import type { Clean } from "./redact.ts";
import { refusalOf } from "./refusal.ts";
import type { Reply } from "./send.ts";

export interface Judgement<T> {
  readonly method: string;
  readonly route: string;
  /** Makes a value of a complete 2xx answer, or throws Malformed. */
  readonly read: (body: string) => T;
  readonly clean: Clean;
}

/** The one place where a reply becomes a value or a GatewayError. */
export function judge<T>({ method, route, read, clean }: Judgement<T>, reply: Reply): { status: number; value: T } {
  const fail = (failure: Omit<Failure, "method" | "route">) => new GatewayError({ method, route, ...failure });

  if (reply.got === "nothing") {
    const cause = harmless(reply.why, clean);
    if (!reply.sent) throw fail({ kind: "unsent", problem: `not sent: ${cause.message}`, cause });
    throw fail({ kind: "unknown", problem: `sent, but no complete answer came: ${cause.message}`, cause });
  }

  const { status } = reply;
  if (status >= 300) {
    const refusal = refusalOf(reply, clean);
    throw fail({ kind: kindOfStatus(status), status, ...refusal, problem: describe(status, refusal) });
  }

  if (reply.got === "head") {
    const cause = harmless(reply.why, clean);
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
    if (!(error instanceof Malformed)) throw error;
    const problem = `${statusLine(status)}, but ${clean(error.message)}`;
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

/** Errors of the transport can hold what was received, as an HTTP parser's do. Only the words and the code are kept. */
function harmless(error: Error, clean: Clean): Error {
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const kept = new Error(clean(error.message) || code || error.name);
  kept.name = error.name;
  return Object.assign(kept, code && { code });
}
