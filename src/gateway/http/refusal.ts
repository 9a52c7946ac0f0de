import type { IncomingHttpHeaders } from "node:http";
import * as z from "zod";
import type { Reply } from "../../http/send.ts";
import type { Quoting, Redact } from "./redact.ts";

/** The service's explanation of an error answer. */
export interface Refusal {
  readonly code: string | undefined;
  readonly serviceMessage: string | undefined;
  readonly operationId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
}

const optionalText = z.union([z.string(), z.number()]).transform(String).optional().catch(undefined);

// the API page has no error body. This is the usual form; any member may be missing or of another type
const errorBody = z.object({
  error_code: optionalText,
  msg: optionalText,
  message: optionalText,
  error: optionalText,
  details: z.object({ operation_id: optionalText }).optional().catch(undefined),
});

/** Reads an answer that is not 2xx. Of a body that is missing, incomplete or not JSON nothing is used. */
export function refusalOf(reply: Exclude<Reply, { got: "nothing" }>, { quoteText, quoteCode }: Quoting): Refusal {
  const body = reply.got === "answer" ? errorBodyOf(reply.body, reply.headers) : {};
  return {
    code: quote(body.error_code, quoteCode, 64),
    serviceMessage: quote(body.msg ?? body.message ?? body.error, quoteText),
    operationId: quote(body.details?.operation_id, quoteText, 64),
    retryAfterSeconds: retryAfter(reply.headers),
  };
}

function errorBodyOf(body: string, headers: IncomingHttpHeaders): Partial<z.output<typeof errorBody>> {
  if (/^text\/plain\b/i.test(headers["content-type"] ?? "")) return { msg: body };
  try {
    return errorBody.safeParse(JSON.parse(body)).data ?? {};
  } catch {
    return {};
  }
}

const quote = (text: string | undefined, safe: Redact, length?: number): string | undefined =>
  text === undefined ? undefined : safe(text, length) || undefined;

/** Limits Retry-After, since a wrong date could stop all calls for years. */
const LONGEST_WAIT_SECONDS = 3600;

/** Seconds from a number or a date. A date is compared with the service's own clock in the header `date`. */
function retryAfter({ "retry-after": header, date }: IncomingHttpHeaders): number | undefined {
  if (!header) return undefined;
  const now = Date.parse(date ?? "") || Date.now();
  const seconds = /^\s*\d+\s*$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(0, Math.ceil(seconds)), LONGEST_WAIT_SECONDS) : undefined;
}
