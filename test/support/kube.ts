import { customResources, kinds } from "../../src/kinds/index.ts";
import { KubeClient, type MergePatch, type PatchOperation } from "../../src/runtime/connection/client.ts";
import { isNotFound } from "../../src/runtime/connection/errors.ts";
import { loadConnection } from "../../src/runtime/connection/kubeconfig.ts";
import { Transport } from "../../src/runtime/connection/transport.ts";
import type { KubeObject, ResourceType } from "../../src/runtime/object.ts";
import { API_VERSION, GROUP, VERSION } from "../../src/schema/contract.ts";
import type { KubeJSON } from "../../tools/shared/objects.ts";
import { Watched } from "./watched.ts";

const builtIn: readonly ResourceType[] = [
  { group: "", version: "v1", plural: "secrets", kind: "Secret" },
  { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap" },
  { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false },
  { group: "externaldns.k8s.io", version: "v1alpha1", plural: "dnsendpoints", kind: "DNSEndpoint" },
  { group: "events.k8s.io", version: "v1", plural: "events", kind: "Event" },
];

const typesOf = (resources: readonly { kind: string; plural: string }[]): ResourceType[] =>
  resources.map(({ kind, plural }) => ({ group: GROUP, version: VERSION, plural, kind }));

const ours = typesOf(kinds);

const types: ReadonlyMap<string, ResourceType> = new Map(
  [...builtIn, ...typesOf(customResources)].map((type) => [type.kind, type]),
);

/** The kinds for whose objects the operator manages remotes. */
export const managedKinds: readonly string[] = ours.map(({ kind }) => kind);

/** Whether the operator manages remotes for objects of this kind. */
export const isOurs = ({ kind }: KubeJSON): boolean => ours.some((type) => type.kind === kind);

/** Whether `Kube` knows this kind. */
export const isKnown = (kind: string): boolean => types.has(kind);

function typeOf(kind: string): ResourceType {
  const type = types.get(kind);
  if (!type) throw new Error(`No test has dealt with the kind ${kind} before: add it in kube.ts`);
  return type;
}

interface Written {
  dryRun?: boolean;
}

/** Reads and writes one namespace without starting kubectl. */
export class Kube {
  readonly namespace: string;
  readonly #client: KubeClient;
  readonly #transport: Transport;

  constructor(kubeconfig: string, namespace: string) {
    this.namespace = namespace;
    this.#transport = new Transport(loadConnection({ kubeconfig }), { userAgent: "test" });
    this.#client = new KubeClient(this.#transport, { fieldManager: "test" });
  }

  close = (): Promise<void> => this.#transport.close();

  /** Undefined only if the API server answers that there is none. */
  async get(kind: string, name: string): Promise<KubeJSON | undefined> {
    try {
      return await this.#client.get(typeOf(kind), { namespace: this.namespace, name }, { deadlineSeconds: 5 });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async list(...kinds: string[]): Promise<KubeJSON[]> {
    const options = { namespace: this.namespace };
    const lists = await Promise.all(kinds.map((kind) => this.#client.listAll(typeOf(kind), options)));
    return lists.flatMap(({ items }) => items);
  }

  /** All objects that the operator manages. */
  all(): Promise<KubeJSON[]> {
    return this.list(...managedKinds);
  }

  watch(kinds: readonly string[]): Watched {
    return new Watched(this.#client, kinds.map(typeOf), this.namespace);
  }

  /** Fails with KubeError if the object exists already, or is refused. */
  create(object: KubeJSON, options: Written = {}): Promise<KubeJSON> {
    return this.#client.create(typeOf(object.kind), this.#placed(object), options);
  }

  /** Server-side apply: removes fields of an earlier apply that this one does not have. */
  apply(...objects: KubeJSON[]): Promise<KubeJSON[]> {
    return Promise.all(objects.map((object) => this.#client.apply(typeOf(object.kind), this.#placed(object))));
  }

  patch(kind: string, name: string, patch: MergePatch, options: Written = {}): Promise<KubeJSON> {
    return this.#client.patchMerge(typeOf(kind), { namespace: this.namespace, name }, patch, options);
  }

  annotate(kind: string, name: string, annotations: Record<string, string | null>): Promise<KubeJSON> {
    return this.patch(kind, name, { metadata: { annotations } });
  }

  async patchStatus(kind: string, name: string, status: object): Promise<KubeJSON> {
    const ref = { namespace: this.namespace, name };
    return this.#client.patchMerge(typeOf(kind), ref, { status }, { subresource: "status" });
  }

  patchJSON(kind: string, name: string, operations: readonly PatchOperation[]): Promise<KubeJSON> {
    return this.#client.patchJSON(typeOf(kind), { namespace: this.namespace, name }, operations);
  }

  async delete(kind: string, name: string): Promise<void> {
    await this.#client.delete(typeOf(kind), { namespace: this.namespace, name });
  }

  /** All objects of the operator's kinds, also those without remotes. */
  custom(): Promise<KubeJSON[]> {
    return this.list(...customResources.map(({ kind }) => kind));
  }

  #placed(object: KubeJSON): KubeObject {
    return { apiVersion: API_VERSION, ...object, metadata: { namespace: this.namespace, ...object.metadata } };
  }
}
