import type { Simulator } from "../simulator/simulator.ts";
import type { Passage } from "../support/gate.ts";

/** Everything that a pass waits for. */
export type StepName =
  | "secret"
  | "try secret"
  | "write secret"
  | "intent"
  | "add finalizer"
  | "status"
  | "finalizer"
  | "LIST"
  | "GET"
  | "POST"
  | "PATCH"
  | "DELETE"
  | "DELETE policy";

export interface Step {
  /** Name of the object; of the collection, for what its objects share. */
  readonly of: string;
  readonly step: StepName;
  /** Of a create: the collection in which it will be sought. */
  readonly soughtIn?: string;
}

const object = /^\/apis\/tunnelgateway\.dev\/v1\/namespaces\/[^/]+\/[^/]+\/([^/?]+)(\/status)?/;
const secret = /^\/api\/v1\/namespaces\/[^/]+\/secrets(?:\/([^/?]+))?/;

/** A request to the API server, when it is one that a pass waits for. The Secret of an object has its name. */
export const clusterStep = (passage: Passage): Step | undefined => objectStep(passage) ?? secretStep(passage);

function objectStep({ method, path, headers, body }: Passage): Step | undefined {
  const [, of, status] = (method === "PATCH" && object.exec(path)) || [];
  if (!of) return undefined;
  if (status) return { of, step: "status" };
  if (headers["content-type"]?.startsWith("application/json-patch")) return { of, step: "finalizer" };
  return { of, step: body.includes("create-intent") ? "intent" : "add finalizer" };
}

function secretStep({ method, path, body }: Passage): Step | undefined {
  const [isSecret, name] = secret.exec(path) ?? [];
  if (!isSecret) return undefined;
  if (method === "GET") return name ? { of: name, step: "secret" } : undefined;
  const of = JSON.parse(body).metadata.name;
  return { of, step: path.includes("dryRun") ? "try secret" : "write secret" };
}

const remote = /^\/(.+?)\/([a-z]+_[0-9A-Za-z]{20,})(?:\/([a-z_]+))?$/;

/** Tells whom a request to the service is about: the description of each remote is the name of its object. */
export class ServiceSteps {
  readonly #simulator: Simulator;
  readonly #names = new Map<string, string>();

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
  }

  of({ method, path, body }: Passage): Step {
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
