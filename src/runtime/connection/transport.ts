import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { newDispatcher, type TlsOptions } from "../../http/dispatcher.ts";
import { isFault, proxyAdvice, proxyStatusOf } from "../../http/fault.ts";
import { send } from "../../http/send.ts";
import { type Clock, systemClock } from "../clock.ts";
import { abortable } from "../deadline.ts";
import type { Connection } from "./connection.ts";
import { CredentialCache, type Loaded } from "./credentials.ts";
import { KubeUnreachable } from "./errors.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Exchange {
  method: Method;
  /** Path below the server's URL, without the query. */
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  headers?: Readonly<Record<string, string>>;
  body?: string;
  signal?: AbortSignal | undefined;
}

export interface Answer {
  status: number;
  /** The Retry-After header: seconds or a date. */
  retryAfter: string | undefined;
  body: string;
}

/** Read the body to its end, destroy it, or abort the exchange: otherwise its connection stays in use. */
export interface StreamedAnswer extends Omit<Answer, "body"> {
  body: Readable & { text(): Promise<string> };
}

interface Agents {
  api: Dispatcher;
  /** Watches stay open for minutes and need any number of connections. */
  watch: Dispatcher;
}

const TIMEOUT_MS = 30_000;

export interface TransportOptions {
  clock?: Clock;
  userAgent?: string;
  /** Called for every answer. `code` is the HTTP status, or `<error>` when there was no answer. */
  onAnswer?: (answer: { code: string; method: Method; host: string }) => void;
}

/**
 * HTTP exchanges with the API server, whatever their status. Connections are kept alive. Credentials are read again
 * every minute, and at a 401, after which the exchange is repeated once. There are no other retries.
 * Throws KubeUnreachable when there was no answer, and the signal's reason when it was aborted. A mistake of the program
 * is thrown as it is.
 */
export class Transport {
  readonly host: string;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #connection: Connection;
  readonly #credentials: CredentialCache;
  readonly #options: TransportOptions;
  #agents: Agents | undefined;
  #tls: TlsOptions | undefined;
  #fingerprint = "";
  readonly #retired = new Set<Dispatcher>();
  #closed = false;

  constructor(connection: Connection, options: TransportOptions = {}) {
    this.#connection = connection;
    this.#options = options;
    this.#credentials = new CredentialCache(connection, options.clock ?? systemClock);
    const { host, origin, pathname } = new URL(connection.server);
    this.host = host;
    this.#origin = origin;
    this.#prefix = pathname.replace(/\/$/, "");
  }

  request(exchange: Exchange): Promise<Answer> {
    return this.#authenticated(exchange, undefined, async (credentials) => {
      const request = { ...this.#requestOf(exchange, credentials), silenceMs: TIMEOUT_MS };
      const reply = await send(this.#open(exchange, credentials).api, request, exchange.signal);
      if (reply.got === "nothing") throw reply.why;
      this.#count(exchange, String(reply.status));
      const head = headOf(reply.status, reply.headers);
      if (reply.got === "answer") return { ...head, body: reply.body };
      // the refusal of credentials counts without its text
      if (reply.status === 401) return { ...head, body: "" };
      throw reply.why;
    });
  }

  /** For watches: the body is a stream without a time limit. */
  stream(exchange: Exchange): Promise<StreamedAnswer> {
    const drop = ({ body }: StreamedAnswer) => body.resume();
    return this.#authenticated(exchange, drop, async (credentials) => {
      const { statusCode, headers, body } = await this.#open(exchange, credentials).watch.request({
        ...this.#requestOf(exchange, credentials),
        body: null,
        signal: exchange.signal ?? null,
        headersTimeout: TIMEOUT_MS,
        bodyTimeout: 0,
      });
      this.#count(exchange, String(statusCode));
      return { ...headOf(statusCode, headers), body };
    });
  }

  /** Breaks off all exchanges. */
  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#retired, ...(this.#agents ? [this.#agents.api, this.#agents.watch] : [])];
    await Promise.all(all.map((agent) => agent.destroy()));
  }

  /** Sends with the credentials of now, and once more with new ones if the server refuses them: `drop` ends that answer. */
  async #authenticated<A extends { status: number }>(
    exchange: Exchange,
    drop: ((answer: A) => void) | undefined,
    sendWith: (credentials: Loaded) => Promise<A>,
  ): Promise<A> {
    try {
      // a plug-in may never end
      const credentials = this.#credentials.current ?? (await abortable(exchange.signal, this.#credentials.get()));
      const answer = await sendWith(credentials);
      if (answer.status !== 401) return answer;
      drop?.(answer);
      return await sendWith(await abortable(exchange.signal, this.#credentials.renew(credentials)));
    } catch (error) {
      throw this.#failure(exchange, error);
    }
  }

  /** The connections for these credentials. */
  #open({ signal }: Exchange, { tls }: Loaded): Agents {
    signal?.throwIfAborted();
    this.#useTls(tls);
    if (!this.#closed && this.#agents) return this.#agents;
    throw new KubeUnreachable("ECLOSED", "The connection to the API server is closed");
  }

  #requestOf(exchange: Exchange, credentials: Loaded) {
    return {
      origin: this.#origin,
      path: this.#pathOf(exchange),
      method: exchange.method,
      headers: {
        accept: "application/json",
        "user-agent": this.#options.userAgent ?? "tunnel-gateway-operator",
        ...exchange.headers,
        ...credentials.headers,
      },
      body: exchange.body,
    };
  }

  #pathOf({ path, query = {} }: Exchange): string {
    const parameters: string[] = [];
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) parameters.push(`${name}=${encodeURIComponent(String(value).toWellFormed())}`);
    const search = parameters.length > 0 ? `?${parameters.join("&")}` : "";
    return `${this.#prefix}${path}${search}`;
  }

  /** Opens new connections for new certificates. Exchanges on the old ones may finish. */
  #useTls(tls: TlsOptions): void {
    if (this.#closed || tls === this.#tls) return;
    this.#tls = tls;
    const fingerprint = createHash("sha256").update(JSON.stringify(tls)).digest("base64");
    if (fingerprint === this.#fingerprint) return;
    for (const agent of this.#agents ? [this.#agents.api, this.#agents.watch] : []) {
      this.#retired.add(agent);
      agent.close().finally(() => this.#retired.delete(agent));
    }
    this.#fingerprint = fingerprint;
    const options = { proxy: this.#connection.proxy, tls, keepAliveTimeout: TIMEOUT_MS };
    this.#agents = { api: newDispatcher({ ...options, connections: 16 }), watch: newDispatcher(options) };
  }

  #failure(exchange: Exchange, error: unknown): unknown {
    if (exchange.signal?.aborted) return exchange.signal.reason;
    if (error instanceof KubeUnreachable) return error;
    this.#count(exchange, "<error>");
    if (isFault(error)) return error;
    const cause = error instanceof Error ? error : new Error(String(error));
    const code = "code" in cause && typeof cause.code === "string" ? cause.code : cause.name;
    const refusal = proxyStatusOf(cause);
    const problem = refusal === undefined ? cause.message || code : proxyAdvice(refusal);
    return new KubeUnreachable(code, `${exchange.method} ${exchange.path}: ${problem}`, { cause });
  }

  #count({ method }: Exchange, code: string): void {
    this.#options.onAnswer?.({ code, method, host: this.host });
  }
}

const headOf = (status: number, headers: IncomingHttpHeaders) => ({
  status,
  retryAfter: first(headers["retry-after"]),
});

const first = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header);
