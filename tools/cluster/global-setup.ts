import type { TestProject } from "vitest/node";
import { buildTool } from "./build/build.ts";
import { reportTo } from "./build/progress.ts";
import { installKinds } from "./install-kinds.ts";
import { startCluster } from "./start.ts";

declare module "vitest" {
  interface ProvidedContext {
    cluster: { kubeconfig: string; kubectl: string; url: string };
  }
}

/** Starts one cluster for all test files of a run, and installs the kinds of the operator. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const report = reportTo(process.stderr, "cluster: ");
  // Built before the tests: beside the compiler they would time out. A test that needs a missing tool reports the error.
  for (const tool of ["helm", "verdict"] as const) await buildTool(tool, report).catch(() => undefined);
  const cluster = await startCluster(report);
  const { kubeconfig, kubectl, url } = cluster;
  await installKinds(cluster);
  project.provide("cluster", { kubeconfig, kubectl, url });
  return () => cluster.stop();
}
