// The plain client, a program of its own. Makes the same writes as the operator for a new object, and nothing else, so
// that its time is a lower bound, the floor.
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { Agent, type Dispatcher, request } from "undici";
import { loadConnection } from "../../src/runtime/connection/kubeconfig.ts";
import { type KubeObject, pathOf, type ResourceType } from "../../src/runtime/object.ts";
import { API_VERSION, annotations, FINALIZER, OWNER_KEY } from "../../src/schema/contract.ts";
import { collections, types } from "./objects.ts";
import { concurrently } from "./phases/concurrently.ts";

export interface FloorSettings {
  kubeconfig: string;
  namespace: string;
  service: { url: string; apiKey: string };
  /** Handles the objects that exist, with this concurrency for each type. "follow" handles new objects until killed. */
  work: { concurrency: number } | "follow";
}

/** Printed as a line of JSON before the first write and after the last. */
export type FloorLine = { at: number; cpuSeconds: number };

const settings = JSON.parse(process.argv[2] ?? "") as FloorSettings;
const connection = loadConnection({ kubeconfig: settings.kubeconfig });
const { headers, tls } = await connection.credentials({ fresh: false });
const kubernetes = new Agent({ connect: tls, allowH2: false });
const service = new Agent({ allowH2: false });

async function send(agent: Dispatcher, url: string, options: Parameters<typeof request>[1]): Promise<unknown> {
  const { statusCode, body } = await request(url, { ...options, dispatcher: agent });
  const text = await body.text();
  if (statusCode >= 300) throw new Error(`${options?.method} ${url}: ${statusCode} ${text}`);
  return JSON.parse(text);
}

const patch = (path: string, contentType: string, body: object): Promise<unknown> =>
  send(kubernetes, `${connection.server}${path}?fieldManager=floor`, {
    method: "PATCH",
    headers: { ...headers, "content-type": contentType },
    body: JSON.stringify(body),
  });

async function create(type: ResourceType, { metadata, spec }: KubeObject): Promise<void> {
  const path = pathOf(type, metadata);
  const { resourceVersion } = metadata;
  const intent = { [annotations.createIntent]: new Date().toISOString() };
  await patch(path, "application/merge-patch+json", {
    metadata: { resourceVersion, finalizers: [FINALIZER], annotations: intent },
  });
  const made = (await send(service, `${settings.service.url}${collections[type.plural]}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${settings.service.apiKey}`,
      "svc-version": "2",
      "content-type": "application/json",
    },
    body: JSON.stringify(bodyOf(metadata, spec as Spec)),
  })) as Record<string, string>;
  await patch(`${path}/status`, "application/json-patch+json", [
    { op: "test", path: "/metadata/uid", value: metadata.uid },
    { op: "add", path: "/status", value: statusOf(made, metadata.generation) },
  ]);
}

interface Spec {
  domain?: string;
  labels?: object;
  description: string;
}

const bodyOf = ({ namespace, name }: KubeObject["metadata"], { domain, labels, description }: Spec): object => ({
  domain,
  labels,
  description,
  metadata: JSON.stringify({ [OWNER_KEY]: `floor/${namespace}/${name}` }),
});

function statusOf({ id, uri, created_at, domain }: Record<string, string>, observedGeneration = 1): object {
  const condition = (type: string, message: string) => ({
    type,
    message,
    observedGeneration,
    status: "True",
    reason: "Available",
    lastTransitionTime: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
  });
  return {
    id,
    uri,
    createdAt: created_at,
    observedGeneration,
    ...(domain !== undefined && { domain }),
    appliedFields: ["description", ...(domain === undefined ? ["labels"] : ["domain"])],
    conditions: [
      condition("Ready", "The resource exists and matches its spec"),
      condition("Synced", "The last call to the service succeeded"),
    ],
  };
}

interface List {
  metadata: { resourceVersion: string };
  items: KubeObject[];
}

const addressOf = (type: ResourceType): string =>
  `${connection.server}${pathOf(type, { namespace: settings.namespace })}`;

const listOf = async (type: ResourceType): Promise<List> =>
  (await send(kubernetes, addressOf(type), { method: "GET", headers })) as List;

async function listed(type: ResourceType): Promise<KubeObject[]> {
  const { items } = await listOf(type);
  return items.map((item) => ({ ...item, apiVersion: API_VERSION, kind: type.kind }));
}

async function opened(type: ResourceType): Promise<Readable> {
  const { resourceVersion } = (await listOf(type)).metadata;
  const query = { watch: "true", resourceVersion };
  return (await request(addressOf(type), { dispatcher: kubernetes, headers, query })).body;
}

async function follow(type: ResourceType, watch: Readable): Promise<void> {
  for await (const line of createInterface({ input: watch })) {
    const event = JSON.parse(line) as { type: string; object: KubeObject };
    // not caught: a failure ends the process
    if (event.type === "ADDED") void create(type, event.object);
  }
}

function tell(): void {
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ at: Date.now(), cpuSeconds: (user + system) / 1e6 } satisfies FloorLine));
}

async function workOff(concurrency: number): Promise<void> {
  const objects = await Promise.all(types.map(listed));
  tell();
  await Promise.all(
    types.map((type, index) => concurrently(objects[index] ?? [], concurrency, (object) => create(type, object))),
  );
  tell();
}

async function followAll(): Promise<void> {
  const watches = await Promise.all(types.map(opened));
  tell();
  await Promise.all(types.map((type, index) => follow(type, watches[index] as Readable)));
}

await (settings.work === "follow" ? followAll() : workOff(settings.work.concurrency));
await Promise.all([kubernetes.close(), service.close()]);
