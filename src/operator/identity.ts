import type { Config } from "../config.ts";
import type { KubeClient } from "../runtime/client.ts";
import { isForbidden } from "../runtime/errors.ts";

const namespaces = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };

/**
 * What names this cluster in the marks that are left in the account; it must not change while objects exist.
 * What the configuration says, else the uid of kube-system, which lives as long as the cluster. An operator that may
 * not read that is known by its own namespace.
 */
export async function clusterIDOf(
  client: Pick<KubeClient, "get">,
  { clusterID, podNamespace }: Pick<Config, "clusterID" | "podNamespace">,
): Promise<string> {
  if (clusterID !== undefined) return clusterID;
  const uidOf = async (name: string) => (await client.get(namespaces, { name })).metadata.uid ?? "";
  try {
    return await uidOf("kube-system");
  } catch (error) {
    if (!isForbidden(error) || podNamespace === undefined) throw error;
    return uidOf(podNamespace);
  }
}
