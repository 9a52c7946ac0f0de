import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Connection } from "../../../src/runtime/connection/connection.ts";
import { type KubeObject, keyOf } from "../../../src/runtime/object.ts";
import { applyPatch, type Operation } from "./fake-patch.ts";
import { FakeStorage, Refused } from "./fake-storage.ts";
import { FakeWatch } from "./fake-watch.ts";

/** How one request fails. */
export type Fault =
  | { status: number; retryAfter?: number; body?: string }
  | { reset: true }
  /** There is no answer. */
  | { hang: true };

export interface Received {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage["headers"];
  body: string;
}

interface Target {
  collection: string;
  namespace: string | undefined;
  name: string | undefined;
  subresource: string | undefined;
}

/**
 * The parts of an API server that the runtime uses, over real HTTP: resourceVersions, lists in pages, watches with
 * bookmarks and initial events, finalizers and preconditions. It fails requests on demand.
 */
export class FakeApiServer implements AsyncDisposable {
  readonly storage = new FakeStorage();
  readonly watches = new Set<FakeWatch>();
  readonly received: Received[] = [];
  readonly sockets = new Set<Socket>();
  /** Each fails one request, in order; undefined lets one succeed. */
  readonly faults: (Fault | undefined)[] = [];
  /** What the server does with `sendInitialEvents`. Old servers ignore or reject it. */
  initialEvents: "send" | "ignore" | "reject" = "send";
  /** Collections that are not served, as if their CRD were absent. */
  readonly absent = new Set<string>();
  /** Namespaces in which the client has no rights. */
  readonly forbidden = new Set<string>();
  /** The only bearer token that is accepted. */
  token: string | undefined;

  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => void this.#serve(request, response));
    server.on("connection", (socket) => {
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket));
    });
  }

  static async start(): Promise<FakeApiServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new FakeApiServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get connection(): Connection {
    const credentials = async () => ({ headers: this.token ? { authorization: `Bearer ${this.token}` } : {}, tls: {} });
    return { server: this.url, credentials };
  }

  /** Sends a bookmark to every watch. */
  bookmark(): void {
    for (const watch of this.watches) watch.bookmark(this.storage.revision);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? "", this.url);
    const body = await textOf(request);
    const method = request.method ?? "";
    const received = { method, path: pathname, query, headers: request.headers, body };
    this.received.push(received);
    const fault = this.faults.shift();
    if (fault) return fail(fault, request, response);
    if (this.token && request.headers.authorization !== `Bearer ${this.token}`) {
      return answer(response, 401, status(new Refused(401, "Unauthorized")));
    }
    const target = targetOf(pathname);
    if (this.absent.has(target.collection)) return answer(response, 404, "404 page not found\n");
    try {
      this.#authorize(target);
      if (query.get("watch") === "true") return this.#watch(target, query, response);
      answer(response, method === "POST" ? 201 : 200, this.#handle(received, target));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      answer(response, error.code, status(error));
    }
  }

  #authorize({ namespace = "" }: Target): void {
    if (this.forbidden.has(namespace)) throw new Refused(403, "Forbidden");
  }

  #handle(received: Received, target: Target): object {
    const { collection, namespace, name } = target;
    if (!name) return received.method === "POST" ? this.#create(received, target) : this.#list(received, target);
    const key = keyOf({ namespace, name });
    const body = received.body ? JSON.parse(received.body) : undefined;
    if (received.method === "PUT") return this.storage.update(collection, key, () => body);
    if (received.method === "PATCH")
      return this.storage.update(collection, key, (current) => patched(current, body, target));
    if (received.method === "DELETE") return this.storage.delete(collection, key, body?.preconditions);
    const found = this.storage.get(collection, key);
    if (!found) throw new Refused(404, "NotFound", `${key} not found`);
    return found;
  }

  #create({ body }: Received, { collection, namespace }: Target): KubeObject {
    const object: KubeObject = JSON.parse(body);
    return this.storage.create(collection, {
      ...object,
      metadata: { ...object.metadata, ...(namespace && { namespace }) },
    });
  }

  #list({ query }: Received, { collection, namespace }: Target): object {
    const limit = Number(query.get("limit") ?? 0) || Number.POSITIVE_INFINITY;
    const [revision = this.storage.revision, offset = 0] = query.get("continue")?.split("/").map(Number) ?? [];
    // any write makes the next page of older lists expire
    if (revision !== this.storage.revision) throw new Refused(410, "Expired");
    const all = this.storage.list(collection, namespace);
    const items = all.slice(offset, offset + limit).map(({ kind: _, apiVersion: __, ...item }) => item);
    const next = offset + limit < all.length ? `${revision}/${offset + limit}` : undefined;
    return { kind: "List", apiVersion: "v1", metadata: { resourceVersion: String(revision), continue: next }, items };
  }

  #watch({ collection, namespace }: Target, query: URLSearchParams, response: ServerResponse): void {
    const from = Number(query.get("resourceVersion") ?? 0);
    const wanted = query.get("sendInitialEvents") === "true";
    if (wanted && this.initialEvents === "reject") {
      answer(response, 422, status(new Refused(422, "Invalid")));
      return;
    }
    const watch = new FakeWatch(response, namespace);
    if (from) this.#replay(watch, collection, from);
    else for (const object of this.storage.list(collection)) watch.event({ type: "ADDED", object });
    if (wanted && this.initialEvents === "send") watch.bookmark(this.storage.revision, initialEventsEnd);
    const unsubscribe = this.storage.onWrite((written) => written.collection === collection && watch.event(written));
    this.watches.add(watch);
    response.on("close", () => {
      unsubscribe();
      this.watches.delete(watch);
    });
  }

  #replay(watch: FakeWatch, collection: string, from: number): void {
    const missed = this.storage.since(collection, from);
    for (const written of missed ?? []) watch.event(written);
    if (!missed) watch.fail(410, "Expired");
  }
}

const initialEventsEnd = { "k8s.io/initial-events-end": "true" };

function targetOf(path: string): Target {
  const segments = path.split("/").filter(Boolean).map(decodeURIComponent);
  const prefix = segments.splice(0, segments[0] === "api" ? 2 : 3);
  const namespace = segments[0] === "namespaces" && segments.length > 2 ? segments.splice(0, 2)[1] : undefined;
  const [plural, name, subresource] = segments;
  return { collection: [...prefix.slice(1), plural].join("/"), namespace, name, subresource };
}

/** A patch of the status subresource changes the status only, one of the main resource everything else. */
function patched(current: KubeObject, patch: KubeObject | Operation[], { subresource }: Target): KubeObject {
  if (Array.isArray(patch)) {
    const { status, ...main } = applyPatch(current, patch);
    return subresource === "status" ? { ...current, status } : { ...main, ...pick(current, "status") };
  }
  const { status: _, ...main } = patch;
  const { resourceVersion, uid } = patch.metadata ?? {};
  if (subresource !== "status" && uid && uid !== current.metadata.uid)
    throw new Refused(422, "Invalid", "uid is immutable");
  // a real server ignores the uid in a patch of the status too
  const guards = { metadata: { ...(resourceVersion && { resourceVersion }) } };
  return merge(current, subresource === "status" ? { ...guards, status: patch["status"] } : main) as KubeObject;
}

const pick = (object: KubeObject, member: string): object => (member in object ? { [member]: object[member] } : {});

function merge(current: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = { ...(current as object) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else if (value !== undefined) result[name] = merge(result[name], value);
  }
  return result;
}

function fail(fault: Fault, request: IncomingMessage, response: ServerResponse): void {
  if ("hang" in fault) return;
  if ("reset" in fault) {
    request.socket.resetAndDestroy();
    return;
  }
  if (fault.retryAfter !== undefined) response.setHeader("retry-after", fault.retryAfter);
  answer(response, fault.status, fault.body ?? status(new Refused(fault.status, "Fault")));
}

function answer(response: ServerResponse, code: number, body: object | string): void {
  response.writeHead(code, { "content-type": typeof body === "string" ? "text/plain" : "application/json" });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

const status = ({ code, reason, message }: Refused) => ({
  kind: "Status",
  apiVersion: "v1",
  status: "Failure",
  code,
  reason,
  message,
  metadata: {},
});

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
