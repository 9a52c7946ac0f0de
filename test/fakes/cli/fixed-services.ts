import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { tunnelSessions } from "../../../src/gateway/resources/index.ts";
import { customResources, kinds } from "../../../src/kinds/index.ts";
import type { ManagedObject } from "../../../src/objects/object.ts";
import { structural } from "../../../src/schema/structural.ts";
import { events, lease, objects, remotes, sessions } from "./fixed-account.ts";

export interface Answer {
  status: number;
  /** A text is answered as text. */
  body: object | string;
}

const ok = (body: object): Answer => ({ status: 200, body });
const list = (items: readonly object[]): Answer => ok({ metadata: { resourceVersion: "7" }, items });
const missing: Answer = { status: 404, body: { kind: "Status", status: "Failure", reason: "NotFound", code: 404 } };

/** An answer that replaces the fixed one. Undefined: keep the fixed answer. */
export type Fault = (request: { method: string; path: string }) => Answer | undefined;

/** Deletions of objects and removals of their finalizers are refused, or answered without effect, or carried out. */
export type Writes = "refused" | "ignored" | "done";

/** Changes the body of an answer. */
export type Alteration = (body: object, request: { path: string }) => object;

export interface FixedServices extends AsyncDisposable {
  fault: Fault | undefined;
  /** Changes all answers that no fault replaces. */
  alteration: Alteration | undefined;
  writes: Writes;
  /** Refuses writes again, and undoes those that were done. */
  restore: () => void;
  /** Base address of both. */
  url: string;
}

/** Paths of objects that writes have changed. */
interface Written {
  deleted: Set<string>;
  released: Set<string>;
}

/** The API server and the service of the fixed account. They answer reads, and a dry run as if it was done. */
export async function startFixedServices(): Promise<FixedServices> {
  const written: Written = { deleted: new Set(), released: new Set() };
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const { method = "", url = "" } = request;
    const { pathname: path } = new URL(url, "http://fixed");
    const fault = services.fault?.({ method, path });
    const { status, body: fixed } =
      fault ?? answerToWrite(method, path, written, services.writes) ?? (await answerTo(request, written));
    const body = fault || typeof fixed === "string" ? fixed : (services.alteration?.(fixed, { path }) ?? fixed);
    const [type, text] = typeof body === "string" ? ["text/plain", body] : ["application/json", JSON.stringify(body)];
    response.writeHead(status, { "content-type": type }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const services: FixedServices = {
    fault: undefined,
    alteration: undefined,
    writes: "refused",
    restore() {
      services.writes = "refused";
      written.deleted.clear();
      written.released.clear();
    },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return services;
}

const OBJECT = /^\/apis\/tunnelgateway\.dev\/v1(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?$/;

/** Undefined for what changes no object. */
function answerToWrite(method: string, path: string, { deleted, released }: Written, how: Writes): Answer | undefined {
  if (how === "refused" || (method !== "DELETE" && method !== "PATCH") || !OBJECT.test(path)) return undefined;
  if (how === "done") (method === "DELETE" ? deleted : released).add(path);
  return ok({ kind: "Status", status: "Success" });
}

async function answerTo(request: IncomingMessage, written: Written): Promise<Answer> {
  const { pathname: path, searchParams: query } = new URL(request.url ?? "", "http://fixed");
  if (request.method === "POST" && path.endsWith("selfsubjectaccessreviews"))
    return { status: 201, body: { status: { allowed: true } } };
  if (request.method === "POST" && path.includes("/namespaces/nowhere/")) return missing;
  if (request.method === "POST" && query.get("dryRun") === "All")
    return { status: 201, body: JSON.parse(await text(request)) };
  if (request.method !== "GET") return { status: 405, body: {} };
  if (path === "/api/v1/namespaces/shop/events") return list(eventsFor(query.get("fieldSelector") ?? ""));
  return ofKubernetes(path, written) ?? ofService(path);
}

function ofKubernetes(path: string, written: Written): Answer | undefined {
  const ours = OBJECT.exec(path);
  if (ours) return ofObjects(written, ours[2] ?? "", ours[1], ours[3]);
  switch (path) {
    case "/version":
      return ok({ gitVersion: "v1.34.0" });
    case "/openapi/v3/apis/tunnelgateway.dev/v1":
      return ok({ components: { schemas: served() } });
    case "/api/v1/namespaces/kube-system":
      return ok({ metadata: { name: "kube-system", uid: "c1" } });
    case "/api/v1/namespaces/shop":
    case "/api/v1/namespaces/other":
      return ok({ metadata: { name: path.slice(path.lastIndexOf("/") + 1) } });
    case "/apis/coordination.k8s.io/v1/leases":
      return list([lease]);
    case `/apis/coordination.k8s.io/v1/namespaces/${lease.metadata.namespace}/leases/${lease.metadata.name}`:
      return ok(lease);
    default:
      return /^\/apis?\//.test(path) ? missing : undefined;
  }
}

const eventsFor = (selector: string) =>
  events.filter(({ involvedObject }) => selector === `involvedObject.uid=${involvedObject.uid}`);

function ofObjects(
  { deleted, released }: Written,
  plural: string,
  namespace: string | undefined,
  name: string | undefined,
): Answer {
  const kind = kinds.find((one) => one.plural === plural);
  const pathOf = ({ metadata }: ManagedObject) =>
    `/apis/tunnelgateway.dev/v1/namespaces/${metadata.namespace}/${plural}/${metadata.name}`;
  const all = ((kind && objects.get(kind)) ?? [])
    .filter((object) => !deleted.has(pathOf(object)))
    .map((object) =>
      released.has(pathOf(object)) ? { ...object, metadata: { ...object.metadata, finalizers: [] } } : object,
    );
  const near = all.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
  if (name === undefined) return list(near);
  const found = near.find(({ metadata }) => metadata.name === name);
  return found ? ok(found) : missing;
}

const served = (): Record<string, object> =>
  Object.fromEntries(
    customResources.map(({ kind, spec, status }) => [
      `dev.tunnelgateway.v1.${kind}`,
      { properties: { spec: structural(spec), status: structural(status) } },
    ]),
  );

function ofService(path: string): Answer {
  const collection = kinds.find(({ resource }) => path === resource.path);
  if (collection)
    return ok({ [collection.resource.listKey]: remotes.get(collection) ?? [], uri: path, next_page_uri: null });
  if (path === tunnelSessions.path) return ok({ tunnel_sessions: sessions, uri: path, next_page_uri: null });
  for (const [{ resource }, rows] of remotes) {
    const found = rows.find(({ id }) => path === `${resource.path}/${id}`);
    if (found) return ok(found);
  }
  return { status: 404, body: { error_code: "ERR_404", status_code: 404, msg: "not found" } };
}
