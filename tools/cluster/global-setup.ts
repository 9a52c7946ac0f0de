import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { bundle } from "../bundle/bundle.ts";
import { buildTool } from "./build/build.ts";
import { reportTo } from "./build/progress.ts";
import { installKinds } from "./install-kinds.ts";
import { startCluster } from "./start.ts";

declare module "vitest" {
  interface ProvidedContext {
    cluster: { kubeconfig: string; kubectl: string; url: string };
  }
}

/**
 * For all test files of a run: starts one cluster, installs the kinds of the operator, and bundles the program as the
 * image has it. The bundle starts in a third of the CPU time that its sources take, and tests start it some 200 times.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const report = reportTo(process.stderr, "cluster: ");
  // Built before the tests: beside the compiler they would time out. A test that needs a missing tool reports the error.
  for (const tool of ["helm", "verdict"] as const) await buildTool(tool, report).catch(() => undefined);
  await bundleProgram();
  const cluster = await startCluster(report);
  const { kubeconfig, kubectl, url } = cluster;
  await installKinds(cluster);
  project.provide("cluster", { kubeconfig, kubectl, url });
  return () => cluster.stop();
}

/**
 * Bundles the program into a folder that goes with this process, and sets the variable that names it. The processes of
 * the tests, and the programs that they start, inherit the environment of this one.
 */
async function bundleProgram(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "tunnel-gateway-operator-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  await bundle(folder);
  process.env["OPERATOR_PROGRAM"] = join(folder, "dist/main.js");
  process.env["NODE_COMPILE_CACHE"] = join(folder, "cache");
}
