import type { Config } from "../config.ts";
import type { KubeClient } from "../runtime/client.ts";

const namespaces = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };

/**
 * What names this cluster in the marks that are left in the account: what the configuration says, else the uid of
 * kube-system, which lives as long as the cluster. An operator of some namespaces has no right to read that and is
 * known by its own. Never by what it happens to be allowed: the name must not change while objects exist.
 */
export async function clusterIDOf(
  client: Pick<KubeClient, "get">,
  { clusterID, podNamespace, watchNamespaces }: Pick<Config, "clusterID" | "podNamespace" | "watchNamespaces">,
): Promise<string> {
  if (clusterID !== undefined) return clusterID;
  const name = watchNamespaces.length > 0 && podNamespace !== undefined ? podNamespace : "kube-system";
  return (await client.get(namespaces, { name })).metadata.uid ?? "";
}
