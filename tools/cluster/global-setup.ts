import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startCluster } from "./start.ts";

declare module "vitest" {
  interface ProvidedContext {
    cluster: { kubeconfig: string; kubectl: string; url: string };
  }
}

const crds = join(import.meta.dirname, "../../crds");

/** One cluster, with our kinds installed, for all test files of a run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster({ onProgress: (line) => console.error(`cluster: ${line}`) });
  const { kubeconfig, kubectl, url } = cluster;
  await cluster.kubectlRun(["apply", "--server-side", "-f", crds]);
  await cluster.kubectlRun(["wait", "--for=condition=Established", "-f", crds]);
  project.provide("cluster", { kubeconfig, kubectl, url });
  return () => cluster.stop();
}
