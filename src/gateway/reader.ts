import type { Dispatcher } from "undici";
import type * as z from "zod";
import { newDispatcher } from "../http/dispatcher.ts";
import { type Proxies, proxyFor } from "../http/proxies.ts";
import { type CallOptions, call, type Request } from "./call.ts";
import { parseBaseURL } from "./http/base-url.ts";
import type { Connection, ExchangeEvent } from "./http/exchange.ts";
import type { Key } from "./http/key.ts";
import { allRows, type Page, pages } from "./list.ts";
import { readOne, readOptional, UnreadableAnswer } from "./read.ts";
import type { Module, ModuleOwner, Remote, Resource } from "./resource.ts";
import { type EventSource, eventSources } from "./resources/index.ts";

export interface ClientOptions {
  /** `https://api.example.com`, with or without a path. http or https, no credentials. */
  readonly baseURL: string;
  /** A function is called before every request. */
  readonly apiKey: Key;
  /** Time limit of a whole exchange: API key, connection, request and complete answer; default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** `{}`: the service is reached directly. */
  readonly proxies: Proxies;
  /** Used instead of own connections. The caller closes it. It must neither retry nor follow redirects. */
  readonly dispatcher?: Dispatcher | undefined;
  /** Called after each exchange, so for each page of a list. */
  readonly onExchange?: ((event: ExchangeEvent) => void) | undefined;
  /** Called with the header `Date` of each answer, unless a cache has kept it. */
  readonly onDate?: ((date: string) => void) | undefined;
  readonly userAgent?: string | undefined;
  /** Milliseconds since the epoch, for `Page.startedAt`; default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** Connections to one service. Further calls wait for one, within their deadline. */
const CONNECTIONS = 64;

/**
 * Reads one account, and cannot change it: see GatewayClient. A call is one HTTP exchange, or one for each page of a list.
 * It is never retried here, and rejects only with GatewayError. A reader has no state except its connections, and may be
 * shared.
 */
export class GatewayReader {
  readonly #connection: Connection;
  readonly #own: Dispatcher | undefined;
  #closed: Promise<void> | undefined;

  /** Throws TypeError for an invalid `baseURL`. Does not connect yet. */
  constructor(options: ClientOptions) {
    const base = parseBaseURL(options.baseURL);
    const proxy = proxyFor(options.proxies, new URL(base.origin));
    const dispatcher = options.dispatcher ?? newDispatcher({ proxy, connections: CONNECTIONS });
    this.#own = options.dispatcher ? undefined : dispatcher;
    this.#connection = {
      base,
      dispatcher,
      apiKey: options.apiKey,
      timeoutMs: options.timeoutMs ?? 30_000,
      userAgent: options.userAgent ?? "tunnel-gateway-client",
      onExchange: options.onExchange ?? (() => {}),
      onDate: options.onDate ?? (() => {}),
      now: options.now ?? Date.now,
    };
  }

  get<Wire extends z.ZodObject>(resource: Resource<Wire>, id: string, options?: CallOptions): Promise<Remote<Wire>> {
    return this.call({ method: "GET", ...item(resource, "get", id), read: readsOne(resource, id) }, options);
  }

  /** Page by page, in the order of the service. Rows may move between pages meanwhile, and then come twice. */
  list<Wire extends z.ZodObject>(
    resource: Resource<Wire>,
    options?: CallOptions,
  ): AsyncGenerator<Page<Remote<Wire>>, void, void> {
    return pages(this.#connection, resource, {}, options) as AsyncGenerator<Page<Remote<Wire>>, void, void>;
  }

  /** The whole list, each id once. Unlike `list` it rejects when a row cannot be read, so that no row is missing. */
  async listAll<Wire extends z.ZodObject>(resource: Resource<Wire>, options?: CallOptions): Promise<Remote<Wire>[]> {
    const rows = await allRows(this.list(resource, options), resource.path);
    return [...new Map(rows.map((row) => [row.id, row])).values()];
  }

  /** Null when the service answers that nothing is set. It may answer 404 instead, and then this rejects. */
  getModule<Wire extends z.ZodObject>(
    module: Module<Wire>,
    owner: ModuleOwner,
    options?: CallOptions,
  ): Promise<z.output<Wire> | null> {
    const read = (answer: string) => readOptional(module.wire, answer);
    return this.call({ method: "GET", ...moduleOf(module, "get", owner), read }, options);
  }

  /** Rejects when a row cannot be read. */
  listSources(subscriptionId: string, options?: CallOptions): Promise<EventSource[]> {
    const ids = { subscription_id: subscriptionId };
    return allRows(pages(this.#connection, eventSources, ids, options), eventSources.path);
  }

  /** Closes the client's own connections when the running calls have ended. */
  async close(): Promise<void> {
    this.#closed ??= this.#own?.close();
    await this.#closed;
  }

  protected call<T>(request: Request<T>, options?: CallOptions): Promise<T> {
    return call(this.#connection, request, options);
  }
}

export const reads =
  <Wire extends z.ZodObject>({ wire }: Resource<Wire>) =>
  (body: string) =>
    readOne(wire, body) as Remote<Wire>;

/** Refuses an answer about another resource. Whoever asked would take that one for its own. */
export const readsOne =
  <Wire extends z.ZodObject>(resource: Resource<Wire>, id: string) =>
  (body: string) => {
    const remote = reads(resource)(body);
    if (remote.id !== id) throw new UnreadableAnswer("the answer is about another resource");
    return remote;
  };

export const item = (resource: Resource, verb: "get" | "update" | "delete", id: string) => ({
  route: `${resource.path}/{id}`,
  family: resource,
  verb: resource.verbs[verb],
  ids: { id },
});

export const moduleOf = (module: Module, verb: keyof Module["verbs"], owner: ModuleOwner) => ({
  route: module.path,
  family: module,
  verb: module.verbs[verb],
  ids: { ...owner },
});
