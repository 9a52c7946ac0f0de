import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { type Request, send } from "../../http/send.ts";
import { type FailureKind, GatewayError, isGatewayError } from "../errors.ts";
import type { BaseURL } from "./base-url.ts";
import { interpret } from "./interpret.ts";
import { type Key, readKey } from "./key.ts";
import { quotingCodeOnly, quotingWithout, secretsIn, stringsIn } from "./redact.ts";
import { Unsent } from "./unsent.ts";

/** Describes an exchange for metrics and logs. It has no query, no body and no words of the service. */
export interface ExchangeEvent {
  readonly method: string;
  /** Path template: `/reserved_domains/{id}`. */
  readonly route: string;
  /** The path that was sent, with ids and the prefix of the base URL. If nothing was sent: the template. */
  readonly path: string;
  /** Name of the resource or module. */
  readonly resource: string;
  readonly status?: number | undefined;
  /** The service's `error_code`. */
  readonly code?: string | undefined;
  /** The service's id of the call, which it tells when it refuses. */
  readonly operationId?: string | undefined;
  readonly seconds: number;
  readonly outcome: "ok" | FailureKind;
}

export interface Connection {
  readonly base: BaseURL;
  readonly dispatcher: Dispatcher;
  readonly apiKey: Key;
  readonly timeoutMs: number;
  readonly userAgent: string;
  readonly onExchange: (event: ExchangeEvent) => void;
  readonly onDate: (date: string) => void;
  readonly now: () => number;
}

export interface Call<T> {
  readonly method: string;
  readonly route: string;
  readonly resource: string;
  /** Path and query as sent, with the prefix of the base. Throws Unsent. */
  readonly path: () => string;
  readonly body?: object | undefined;
  /** Names of body members whose text must not appear in a message. */
  readonly secrets?: readonly string[] | undefined;
  /** See CallOptions. */
  readonly confidential?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly assertMaySend?: ((key: string) => void) | undefined;
  /** See CallOptions. */
  readonly onAnswer?: ((bytes: number) => void) | undefined;
  readonly read: (body: string) => T;
}

const VERSION = "2";

/** Far more than a page of 100 rows. It protects the memory against a broken or hostile service. */
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** Makes one call within one deadline: API key, request, answer. Rejects only with GatewayError. Does not retry. */
export async function exchange<T>(connection: Connection, call: Call<T>): Promise<T> {
  const began = performance.now();
  const { method, route, resource } = call;
  const report = (
    outcome: ExchangeEvent["outcome"],
    { status, code, operationId }: Pick<ExchangeEvent, "status" | "code" | "operationId">,
  ) => {
    const seconds = (performance.now() - began) / 1000;
    notify(connection, { method, route, path: pathOf(call), resource, status, code, operationId, seconds, outcome });
  };

  try {
    const { status, value } = await attempt(connection, call);
    report("ok", { status });
    return value;
  } catch (error) {
    if (isGatewayError(error)) report(error.kind, error);
    throw error;
  }
}

function pathOf({ path, route }: Call<unknown>): string {
  try {
    return path().replace(/\?.*/, "");
  } catch (error) {
    if (error instanceof Unsent) return route;
    throw error;
  }
}

async function attempt<T>(connection: Connection, call: Call<T>): Promise<{ status: number; value: T }> {
  const deadline = abortAfter(connection.timeoutMs, call.signal);
  try {
    const key = await readKey(connection.apiKey, deadline.signal);
    const reply = await send(connection.dispatcher, requestOf(connection, call, key), deadline.signal);
    if (reply.got !== "nothing") tellDate(connection, reply.headers);
    const quoting = call.confidential
      ? quotingCodeOnly([key, ...stringsIn(call.body)])
      : quotingWithout([key, ...secretsIn(call.body, call.secrets ?? [])]);
    return interpret({ ...call, ...quoting }, reply);
  } catch (error) {
    if (!(error instanceof Unsent)) throw error;
    const { method, route } = call;
    const { code, message } = error;
    throw new GatewayError({ kind: "unsent", method, route, problem: `not sent: ${message}`, code, cause: error });
  } finally {
    deadline.clear();
  }
}

/** The date of an answer from a cache is that of an earlier one. */
function tellDate({ onDate }: Connection, { date, age }: IncomingHttpHeaders): void {
  if (date !== undefined && !Number(age)) onDate(date);
}

function requestOf({ base, userAgent }: Connection, call: Call<unknown>, key: string): Request {
  const { method, path, body, assertMaySend, onAnswer } = call;
  const headers = {
    accept: "application/json",
    "accept-encoding": "identity",
    authorization: `Bearer ${key}`,
    "svc-version": VERSION,
    "user-agent": userAgent,
  };
  const request = {
    origin: base.origin,
    path: path(),
    method,
    assertMaySend: () => assertMaySend?.(key),
    onAnswer: (bytes: number) => {
      if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
      onAnswer?.(bytes);
    },
  };
  if (body === undefined) return { ...request, headers };
  return { ...request, headers: { ...headers, "content-type": "application/json" }, body: toJSON(body) };
}

/** Members that are undefined are left out. */
function toJSON(body: object): string {
  try {
    return JSON.stringify(body);
  } catch {
    throw new Unsent("the body cannot be written as JSON");
  }
}

/** A signal that is aborted after a time, or with `outer`. `clear` removes the timer and the listener. */
function abortAfter(ms: number, outer: AbortSignal | undefined): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController();
  const onAbort = () => controller.abort(new Error("stopped by the caller"));
  const timer = setTimeout(() => controller.abort(new Error(`timed out after ${ms / 1000} s`)), ms);
  if (outer?.aborted) onAbort();
  outer?.addEventListener("abort", onAbort, { once: true });
  const clear = () => {
    clearTimeout(timer);
    outer?.removeEventListener("abort", onAbort);
  };
  return { signal: controller.signal, clear };
}

/** An error of the observer must not make a successful call fail. */
function notify(connection: Connection, event: ExchangeEvent): void {
  try {
    connection.onExchange(event);
  } catch (error) {
    process.emitWarning(`onExchange threw ${error instanceof Error ? error.name : typeof error}`);
  }
}
