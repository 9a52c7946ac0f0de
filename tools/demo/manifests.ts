import { resolve } from "node:path";
import type { Cluster } from "../cluster/cluster.ts";
import { NAMESPACE } from "./namespace.ts";
import { keyOf } from "./objects.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** Whether others may use the cluster too. Then the demo changes nothing outside of its namespace but the kinds. */
export const isShared = (cluster: Cluster): boolean => cluster.stopAPIServer === undefined;

/** Fails if the namespace exists already: the demo must not use or delete a namespace of others. */
export async function createNamespace({ kubectlRun }: Cluster): Promise<void> {
  await kubectlRun(["create", "namespace", NAMESPACE]);
}

/** Deletes its objects too, which needs the operator for their finalizers. Its own cluster is removed as a whole. */
export async function removeNamespace(cluster: Cluster): Promise<void> {
  if (!isShared(cluster)) return;
  await cluster.kubectlRun(["delete", "namespace", NAMESPACE, "--ignore-not-found", "--timeout=60s"]);
}

/** Has external-dns make the record of ReservedDomain/shop. */
export async function askForRecord({ kubectlRun }: Cluster): Promise<void> {
  const patch = JSON.stringify({ spec: { dns: { externalDNS: { ttl: 1 } } } });
  await kubectlRun(["patch", "reserveddomain", "shop", `--namespace=${NAMESPACE}`, "--type=merge", `--patch=${patch}`]);
}

interface Applied {
  readonly items: readonly {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string };
  }[];
}

/** Resolves with the keys of the objects that the operator manages. */
export async function applyExamples({ kubectlRun }: Cluster): Promise<string[]> {
  const place = [`--namespace=${NAMESPACE}`, `--filename=${ROOT}/examples`];
  const { stdout } = await kubectlRun(["apply", ...place, "--validate=strict", "--output=json"]);
  const { items } = JSON.parse(stdout) as Applied;
  const ours = items.filter(({ apiVersion }) => apiVersion.startsWith("tunnelgateway.dev/"));
  return ours.map(({ kind, metadata }) => keyOf({ kind, name: metadata.name }));
}
