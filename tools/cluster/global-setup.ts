import type { TestProject } from "vitest/node";
import { installKinds } from "./install-kinds.ts";
import { startCluster } from "./start.ts";

declare module "vitest" {
  interface ProvidedContext {
    cluster: { kubeconfig: string; kubectl: string; url: string };
  }
}

/** Starts one cluster for all test files of a run, and installs the kinds of the operator. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster({ onProgress: (line) => console.error(`cluster: ${line}`) });
  const { kubeconfig, kubectl, url } = cluster;
  await installKinds(cluster);
  project.provide("cluster", { kubeconfig, kubectl, url });
  return () => cluster.stop();
}
