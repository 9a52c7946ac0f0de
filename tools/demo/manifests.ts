import { resolve } from "node:path";
import type { Cluster } from "../cluster/cluster.ts";
import { keyOf } from "./objects.ts";

const ROOT = resolve(import.meta.dirname, "../..");

export const NAMESPACE = "demo";

/** Whether the cluster may be used by others, so that nothing but the namespace of the demo is theirs to lose. */
export const isShared = (cluster: Cluster): boolean => cluster.stopAPIServer === undefined;

/** Fails when there is such a namespace: it is not ours. */
export async function createNamespace({ kubectlRun }: Cluster): Promise<void> {
  await kubectlRun(["create", "namespace", NAMESPACE]);
}

/** With all objects in it, which takes an operator to let them go. A cluster of our own goes away as a whole. */
export async function removeNamespace(cluster: Cluster): Promise<void> {
  if (!isShared(cluster)) return;
  await cluster.kubectlRun(["delete", "namespace", NAMESPACE, "--ignore-not-found", "--timeout=60s"]);
}

interface Applied {
  readonly items: readonly {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string };
  }[];
}

/** Answers the keys of the objects of our kinds. */
export async function applyExamples({ kubectlRun }: Cluster): Promise<string[]> {
  const place = [`--namespace=${NAMESPACE}`, `--filename=${ROOT}/examples`];
  const { stdout } = await kubectlRun(["apply", ...place, "--validate=strict", "--output=json"]);
  const { items } = JSON.parse(stdout) as Applied;
  const ours = items.filter(({ apiVersion }) => apiVersion.startsWith("tunnelgateway.dev/"));
  return ours.map(({ kind, metadata }) => keyOf({ kind, name: metadata.name }));
}
