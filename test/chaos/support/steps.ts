import { isDeepStrictEqual } from "node:util";
import { STATE_SECRET } from "../../../src/schema/contract.ts";
import type { Members } from "../../../tools/simulator/shape/members.ts";
import type { Simulator } from "../../../tools/simulator/simulator.ts";
import type { ProxiedRequest, Side } from "../../support/gate.ts";

/** The types of requests that a reconcile waits for. */
export const steps = [
  "secret",
  "config map",
  "try secret",
  "write secret",
  "intent",
  "add finalizer",
  "checkpoint",
  "id",
  "unmark",
  "status",
  "finalizer",
  "kind",
  "account",
  "namespace",
  "LIST",
  "GET",
  "POST",
  "PATCH",
  "DELETE",
  "GET module",
  "PUT module",
  "DELETE module",
  "POST source",
  "DELETE source",
] as const;

export type StepType = (typeof steps)[number];

type Named<S> = S extends `${infer Method} module` ? `${Method} ${string}` : S;

/** A request that a reconcile waits for. Requests about a module contain its name. */
export type StepName = Named<StepType>;

export function stepTypeOf(step: StepName): StepType {
  return steps.find((sort) => sort === step) ?? (`${step.split(" ")[0]} module` as StepType);
}

/** The steps without reads whose result is only kept in memory: reading again leaves no trace. */
export const traces = (taken: readonly StepName[]): StepName[] =>
  taken.filter((step) => step !== "secret" && stepTypeOf(step) !== "GET module");

export interface Step {
  /** The name of the object. A request that several objects share has a name of its own. */
  readonly of: string;
  readonly step: StepName;
  /** For a create: the collection that is searched after a crash. */
  readonly soughtIn?: string;
}

/** Where a process is killed. */
export interface Point extends Step {
  /**
   * `before`: the request never arrives. `late`: it arrives while the next process works. `after`: it was carried out,
   * and its answer is lost. A point after the answer arrives is `before` the next step.
   */
  readonly at: Side | "late";
  /** The step before it. On a slow machine, a status may also be written earlier to report a timeout. */
  readonly after?: StepName | undefined;
}

const object = /^\/apis\/tunnelgateway\.dev\/v1\/namespaces\/[^/]+\/[^/]+\/([^/?]+)(\/status)?/;
const defaultAccount = /^\/apis\/tunnelgateway\.dev\/v1\/namespaces\/[^/]+\/gatewayaccounts\/(default)$/;
const read = /^\/api\/v1\/(?:namespaces\/[^/]+\/(secrets|configmaps)|(namespaces))\/([^/?]+)$/;
const definition = /^\/apis\/apiextensions\.k8s\.io\/v1\/customresourcedefinitions\/([^/?]+)\.tunnelgateway\.dev$/;
const secrets = /^\/api\/v1\/namespaces\/[^/]+\/secrets(?:[/?]|$)/;

/**
 * Requests that no reconcile waits for: lists and watches, events, the lease, reviews of identity, and the
 * operator's own Secret.
 */
const beside =
  /[?&]watch=|[?&]limit=|\/events(?:[/?]|$)|\/leases(?:[/?]|$)|\/namespaces\/kube-system$|\/version$|-operator-state(?:[?]|$)/;

/**
 * The step of a request to the API server, if a reconcile waits for it. A Secret or ConfigMap has the name of its
 * object. Throws for an unknown request, so that each new request gets a kill test.
 */
export function clusterStep(passage: ProxiedRequest): Step | undefined {
  if (beside.test(passage.path) || makesKey(passage)) return undefined;
  const step = objectStep(passage) ?? readStep(passage) ?? secretStep(passage);
  if (!step) throw new Error(`A step without a name: ${passage.method} ${passage.path}`);
  return step;
}

/** The first process creates the operator's own Secret before it lists objects. */
const makesKey = ({ method, path, body }: ProxiedRequest): boolean =>
  method === "POST" && secrets.test(path) && JSON.parse(body).metadata.name === STATE_SECRET;

function objectStep({ method, path, headers, body }: ProxiedRequest): Step | undefined {
  const [, of, status] = (method === "PATCH" && object.exec(path)) || [];
  if (!of) return undefined;
  if (status) return { of, step: statusStep(JSON.parse(body)) };
  if (headers["content-type"]?.startsWith("application/json-patch")) return { of, step: "finalizer" };
  if (!body.includes("create-intent")) return { of, step: "add finalizer" };
  return { of, step: / id=\S+ owner=/.test(body) ? "unmark" : "intent" };
}

type Operations = readonly { op: string; path: string; value: Members | null }[];

function statusStep(operations: Operations): StepName {
  if (isCheckpoint(operations)) return "checkpoint";
  const [before, after] = ["test", "add"].map(
    (wanted) => operations.find(({ op, path }) => op === wanted && path === "/status")?.value,
  );
  // What was created right now is recorded, and nothing is said of it yet.
  const isNew = before?.["id"] === undefined && after?.["id"] !== undefined;
  return isNew && isDeepStrictEqual(before?.["conditions"], after?.["conditions"]) ? "id" : "status";
}

/** Whether a write of the status is a checkpoint: it only records what is about to be sent. */
function isCheckpoint(operations: Operations): boolean {
  const [before, after] = ["test", "add"].map((wanted) => {
    const { value } = operations.find(({ op, path }) => op === wanted && path === "/status") ?? {};
    const { appliedFields: _fields, moduleOrigins: _origins, ...rest } = value ?? {};
    return rest;
  });
  return isDeepStrictEqual(before, after);
}

const reads = { secrets: "secret", configmaps: "config map", namespaces: "namespace" } as const;

function readStep({ method, path }: ProxiedRequest): Step | undefined {
  if (method !== "GET") return undefined;
  const [, kind] = definition.exec(path) ?? [];
  if (kind) return { of: kind, step: "kind" };
  const [, account] = defaultAccount.exec(path) ?? [];
  if (account) return { of: account, step: "account" };
  const [, inNamespace, namespace, of] = read.exec(path) ?? [];
  return of === undefined ? undefined : { of, step: reads[(inNamespace ?? namespace) as keyof typeof reads] };
}

function secretStep({ path, body }: ProxiedRequest): Step | undefined {
  if (!secrets.test(path)) return undefined;
  return { of: JSON.parse(body).metadata.name, step: path.includes("dryRun") ? "try secret" : "write secret" };
}

const remote = /^\/(.+?)\/([a-z]+_[0-9A-Za-z]{20,})(?:\/([a-z_]+))?$/;
const route = /^\/edges\/https\/[^/]+\/routes\/edghtsrt_([^/]+)\/([a-z_]+)$/;
const source = /^\/event_subscriptions\/[^/]+\/sources(?:\/([^/]+))?$/;

/** The part of an id that contains the name of the object. */
export const inID = (name: string): string => name.replaceAll("-", "0");
const outOfID = (text: string): string => text.replaceAll("0", "-");

/** The event type that identifies the source of an object. */
export const typeOf = (name: string): string => `${name.replaceAll("-", "_")}.v0`;
const outOfType = (type: string): string => type.replace(".v0", "").replaceAll("_", "-");

/** Finds the object of a request to the service. The description of most remotes is the name of their object. */
export class ServiceSteps {
  readonly #simulator: Simulator;
  readonly #names = new Map<string, string>();

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
  }

  of({ method, path, body }: ProxiedRequest): Step {
    return routeStep(method, path) ?? sourceStep(method, path, body) ?? this.#remoteStep(method, path, body);
  }

  #remoteStep(method: string, path: string, body: string): Step {
    const [, , id, module] = remote.exec(path) ?? [];
    if (id) return { of: this.#nameOf(id), step: (module ? `${method} ${module}` : method) as StepName };
    const collection = path.slice(1);
    if (method === "POST") return { of: JSON.parse(body).description, step: "POST", soughtIn: collection };
    return { of: collection, step: "LIST" };
  }

  #nameOf(id: string): string {
    const name = this.#simulator.control.get(id)?.["description"] ?? this.#names.get(id) ?? id;
    this.#names.set(id, String(name));
    return String(name);
  }
}

function routeStep(method: string, path: string): Step | undefined {
  const [, id = "", module] = route.exec(path) ?? [];
  return module ? { of: outOfID(id), step: `${method} ${module}` as StepName } : undefined;
}

function sourceStep(method: string, path: string, body: string): Step | undefined {
  const [isSource, type] = source.exec(path) ?? [];
  if (!isSource) return undefined;
  if (method === "POST")
    return { of: outOfType(JSON.parse(body).type), step: "POST source", soughtIn: "event_subscriptions" };
  return { of: outOfType(type ?? ""), step: `${method} source` as StepName };
}
