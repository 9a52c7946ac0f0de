import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { type Clock, systemClock } from "../clock.ts";
import { abortable } from "../deadline.ts";
import { type Agents, createAgents } from "./agents.ts";
import type { Connection, TlsOptions } from "./connection.ts";
import { CredentialCache, type Loaded } from "./credentials.ts";
import { KubeUnreachable } from "./errors.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Exchange {
  method: Method;
  /** below the server's URL, without query */
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  headers?: Readonly<Record<string, string>>;
  body?: string;
  signal?: AbortSignal | undefined;
}

export interface Answer {
  status: number;
  /** seconds, or a date, as the server sent it */
  retryAfter: string | undefined;
  body: string;
}

/** The body must be read to its end or destroyed; aborting the exchange's signal does so as well. */
export interface StreamedAnswer extends Omit<Answer, "body"> {
  body: Readable & { text(): Promise<string> };
}

export interface TransportOptions {
  clock?: Clock;
  userAgent?: string;
  /** Told about every answer; code is the HTTP status, or `<error>` when there was none. */
  onAnswer?: (answer: { code: string; method: Method; host: string }) => void;
}

/**
 * One HTTP exchange with the API server, without judging the answer. Connections are kept and reused;
 * credentials are read again every minute, and once at a 401. No retries beyond that.
 * Throws KubeUnreachable when there was no answer, and the signal's reason when it was aborted.
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

  async request(exchange: Exchange): Promise<Answer> {
    const { body, ...answer } = await this.#send(exchange, "api");
    try {
      return { ...answer, body: await body.text() };
    } catch (error) {
      throw this.#lost(exchange, error);
    }
  }

  /** For answers that last: the body comes as it arrives, and may take as long as it likes. */
  stream(exchange: Exchange): Promise<StreamedAnswer> {
    return this.#send(exchange, "watch");
  }

  /** Cuts off whatever is under way. */
  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#retired, ...(this.#agents ? [this.#agents.api, this.#agents.watch] : [])];
    await Promise.all(all.map((agent) => agent.destroy()));
  }

  async #send(exchange: Exchange, kind: keyof Agents): Promise<StreamedAnswer> {
    const credentials = await this.#authenticate(exchange, () => this.#credentials.get());
    const answer = await this.#once(exchange, kind, credentials);
    if (answer.status !== 401) return answer;
    answer.body.resume();
    const renewed = await this.#authenticate(exchange, () => this.#credentials.renew(credentials));
    return this.#once(exchange, kind, renewed);
  }

  async #authenticate(exchange: Exchange, load: () => Promise<Loaded>): Promise<Loaded> {
    try {
      // a plug-in may hang
      const loaded = await abortable(exchange.signal, load());
      this.#useTls(loaded.tls);
      return loaded;
    } catch (error) {
      throw this.#lost(exchange, error);
    }
  }

  async #once(exchange: Exchange, kind: keyof Agents, credentials: Loaded): Promise<StreamedAnswer> {
    exchange.signal?.throwIfAborted();
    if (this.#closed || !this.#agents)
      throw new KubeUnreachable("ECLOSED", "The connection to the API server is closed");
    try {
      const { statusCode, headers, body } = await this.#agents[kind].request({
        origin: this.#origin,
        path: this.#pathOf(exchange),
        method: exchange.method,
        headers: {
          accept: "application/json",
          "user-agent": this.#options.userAgent ?? "tunnel-gateway-operator",
          ...exchange.headers,
          ...credentials.headers,
        },
        body: exchange.body ?? null,
        signal: exchange.signal ?? null,
      });
      this.#told(exchange, String(statusCode));
      return { status: statusCode, retryAfter: first(headers["retry-after"]), body };
    } catch (error) {
      throw this.#lost(exchange, error);
    }
  }

  #pathOf({ path, query = {} }: Exchange): string {
    const parameters = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const search = parameters.length > 0 ? `?${new URLSearchParams(parameters)}` : "";
    return `${this.#prefix}${path}${search}`;
  }

  /** New certificates need new connections; exchanges under way on the old ones end in peace. */
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
    this.#agents = createAgents(tls, this.#connection.proxyUrl);
  }

  #lost(exchange: Exchange, error: unknown): unknown {
    if (exchange.signal?.aborted) return exchange.signal.reason;
    if (error instanceof KubeUnreachable) return error;
    this.#told(exchange, "<error>");
    const cause = error instanceof Error ? error : new Error(String(error));
    const code = "code" in cause && typeof cause.code === "string" ? cause.code : cause.name;
    return new KubeUnreachable(code, `${exchange.method} ${exchange.path}: ${cause.message || code}`, { cause });
  }

  #told({ method }: Exchange, code: string): void {
    this.#options.onAnswer?.({ code, method, host: this.host });
  }
}

const first = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header);
