import type { TestProject } from "vitest/node";
import { startCluster } from "./cluster.ts";

declare module "vitest" {
  interface ProvidedContext {
    cluster: { kubeconfig: string; kubectl: string; url: string };
  }
}

/** One cluster for all test files of a run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster({ onProgress: (line) => console.error(`cluster: ${line}`) });
  const { kubeconfig, kubectl, url } = cluster;
  project.provide("cluster", { kubeconfig, kubectl, url });
  return () => cluster.stop();
}
