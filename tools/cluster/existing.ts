import { access } from "node:fs/promises";
import { obtainTool } from "./build/obtain.ts";
import type { Cluster, StartOptions } from "./cluster.ts";
import { kubectlFor, kubectlOnPath } from "./kubectl.ts";

/** A cluster that somebody else has started, and that runs on after `stop`. */
export async function existingCluster(kubeconfig: string, options: StartOptions): Promise<Cluster> {
  await access(kubeconfig);
  const kubectl = await anyKubectl(options);
  const kubectlRun = kubectlFor({ kubectl, kubeconfig });
  const server = "jsonpath={.clusters[0].cluster.server}";
  const { stdout: url } = await kubectlRun(["config", "view", "--minify", "--output", server]);
  await kubectlRun(["get", "--raw", "/readyz", "--request-timeout=10s"]);
  options.onProgress?.(`using the cluster at ${url}`);
  return { kubeconfig, kubectl, url, kubectlRun, stop: async () => undefined };
}

/** The kubectl of the user, or one that is downloaded or built. */
export async function anyKubectl(options: StartOptions): Promise<string> {
  return (await kubectlOnPath()) ?? ((await obtainTool("kubectl", options))["kubectl"] as string);
}
