import type { Dispatcher } from "undici";
import type * as z from "zod";
import { newDispatcher } from "../http/dispatcher.ts";
import { type Proxies, proxyFor } from "../http/proxies.ts";
import { type CallOptions, call, type Request } from "./call.ts";
import { parseBaseURL } from "./http/base-url.ts";
import type { Connection, ExchangeEvent } from "./http/exchange.ts";
import type { Key } from "./http/key.ts";
import { allRows, type Page, pages } from "./list.ts";
import { readOne, readOptional } from "./read.ts";
import type { Module, ModuleOwner, Remote, Resource } from "./resource.ts";
import { type EventSource, eventSources, type SessionCommand, sessionCommands } from "./resources/index.ts";

export type { CallOptions } from "./call.ts";
export type { ExchangeEvent } from "./http/exchange.ts";
export type { Page } from "./list.ts";
export type { RowProblem } from "./read.ts";

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

/** Members of a request under the names of the service. Undefined ones are not sent. */
export type Body = Readonly<Record<string, unknown>>;

/**
 * The management API of one account. A call is one HTTP exchange, or one for each page of a list. It is never retried
 * here, and rejects only with GatewayError. A client has no state except its connections, and may be shared.
 */
export class GatewayClient {
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

  create<Wire extends z.ZodObject>(resource: Resource<Wire>, body: Body, options?: CallOptions): Promise<Remote<Wire>> {
    const verb = resource.verbs.create;
    return this.#call(
      { method: "POST", route: resource.path, family: resource, verb, body, read: reads(resource) },
      options,
    );
  }

  get<Wire extends z.ZodObject>(resource: Resource<Wire>, id: string, options?: CallOptions): Promise<Remote<Wire>> {
    return this.#call({ method: "GET", ...item(resource, "get", id), read: reads(resource) }, options);
  }

  /** `body` must have a member: services refuse an empty PATCH. */
  update<Wire extends z.ZodObject>(
    resource: Resource<Wire>,
    id: string,
    body: Body,
    options?: CallOptions,
  ): Promise<Remote<Wire>> {
    return this.#call({ method: "PATCH", ...item(resource, "update", id), body, read: reads(resource) }, options);
  }

  /** Rejects with 404 when the resource does not exist. */
  delete(resource: Resource, id: string, options?: CallOptions): Promise<void> {
    return this.#call({ method: "DELETE", ...item(resource, "delete", id), read: nothing }, options);
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

  /** Replaces the whole configuration of the module. */
  putModule<Wire extends z.ZodObject>(
    module: Module<Wire>,
    owner: ModuleOwner,
    body: Body,
    options?: CallOptions,
  ): Promise<z.output<Wire>> {
    const read = (answer: string) => readOne(module.wire, answer);
    return this.#call({ method: "PUT", ...moduleOf(module, "put", owner), body, read }, options);
  }

  /** Null when the service answers that nothing is set. It may answer 404 instead, and then this rejects. */
  getModule<Wire extends z.ZodObject>(
    module: Module<Wire>,
    owner: ModuleOwner,
    options?: CallOptions,
  ): Promise<z.output<Wire> | null> {
    const read = (answer: string) => readOptional(module.wire, answer);
    return this.#call({ method: "GET", ...moduleOf(module, "get", owner), read }, options);
  }

  deleteModule(module: Module, owner: ModuleOwner, options?: CallOptions): Promise<void> {
    return this.#call({ method: "DELETE", ...moduleOf(module, "delete", owner), read: nothing }, options);
  }

  /** Adds one event type to a subscription. */
  createSource(subscriptionId: string, type: string, options?: CallOptions): Promise<EventSource> {
    const { path: route } = eventSources;
    const ids = { subscription_id: subscriptionId };
    return this.#call({ method: "POST", route, family: eventSources, ids, body: { type }, read: readSource }, options);
  }

  /** Rejects when a row cannot be read. */
  listSources(subscriptionId: string, options?: CallOptions): Promise<EventSource[]> {
    const ids = { subscription_id: subscriptionId };
    return allRows(pages(this.#connection, eventSources, ids, options), eventSources.path);
  }

  getSource(subscriptionId: string, type: string, options?: CallOptions): Promise<EventSource> {
    return this.#call({ method: "GET", ...source(subscriptionId, type), read: readSource }, options);
  }

  /** The API page's list of members has `type`, its sample sends an empty object. */
  updateSource(
    subscriptionId: string,
    type: string,
    body: { readonly type?: string } = {},
    options?: CallOptions,
  ): Promise<EventSource> {
    return this.#call({ method: "PATCH", ...source(subscriptionId, type), body, read: readSource }, options);
  }

  deleteSource(subscriptionId: string, type: string, options?: CallOptions): Promise<void> {
    return this.#call({ method: "DELETE", ...source(subscriptionId, type), read: nothing }, options);
  }

  /** The agent reconnects, with a new session and a new id. Agents on Windows cannot do that. */
  restartSession(id: string, options?: CallOptions): Promise<void> {
    return this.#command("restart", id, options);
  }

  /** The agent exits. */
  stopSession(id: string, options?: CallOptions): Promise<void> {
    return this.#command("stop", id, options);
  }

  /** The agent installs the latest version of its major version. Wait at least 10 seconds before a restart. */
  updateSession(id: string, options?: CallOptions): Promise<void> {
    return this.#command("update", id, options);
  }

  /** Closes the client's own connections when the running calls have ended. */
  async close(): Promise<void> {
    this.#closed ??= this.#own?.close();
    await this.#closed;
  }

  #command(command: SessionCommand, id: string, options?: CallOptions): Promise<void> {
    const route = sessionCommands[command];
    const family = { name: "tunnel_sessions" };
    return this.#call({ method: "POST", route, family, ids: { id }, body: {}, read: nothing }, options);
  }

  #call<T>(request: Request<T>, options?: CallOptions): Promise<T> {
    return call(this.#connection, request, options);
  }
}

const nothing = (): void => {};

const readSource = (body: string): EventSource => readOne(eventSources.wire, body);

const reads =
  <Wire extends z.ZodObject>({ wire }: Resource<Wire>) =>
  (body: string) =>
    readOne(wire, body) as Remote<Wire>;

const item = (resource: Resource, verb: "get" | "update" | "delete", id: string) => ({
  route: `${resource.path}/{id}`,
  family: resource,
  verb: resource.verbs[verb],
  ids: { id },
});

const moduleOf = (module: Module, verb: keyof Module["verbs"], owner: ModuleOwner) => ({
  route: module.path,
  family: module,
  verb: module.verbs[verb],
  ids: { ...owner },
});

const source = (subscriptionId: string, type: string) => ({
  route: `${eventSources.path}/{type}`,
  family: eventSources,
  ids: { subscription_id: subscriptionId, type },
});
