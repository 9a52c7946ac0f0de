import { randomUUID } from "node:crypto";
import { afterAll, inject } from "vitest";
import type {} from "./global-setup.ts";
import { type KubectlRun, kubectlFor } from "./kubectl.ts";

export interface TestCluster {
  readonly kubeconfig: string;
  readonly kubectl: string;
  readonly url: string;
  readonly kubectlRun: KubectlRun;
  /** Creates a namespace with a new name and a default ServiceAccount. It is deleted after the tests. */
  freshNamespace(prefix?: string): Promise<string>;
}

/** The cluster of the test run. Call it at the top of a file or of a `describe`, not within a test. */
export function useCluster(): TestCluster {
  const cluster = inject("cluster");
  if (!cluster)
    throw new Error("No cluster here: the test file belongs in the vitest project with tools/cluster/global-setup.ts");
  const kubectlRun = kubectlFor(cluster);
  const namespaces: string[] = [];

  afterAll(async () => {
    if (namespaces.length === 0) return;
    await kubectlRun(["delete", "namespace", ...namespaces, "--wait=false", "--ignore-not-found"]);
  });

  return {
    ...cluster,
    kubectlRun,
    async freshNamespace(prefix = "test") {
      const name = `${prefix}-${randomUUID().slice(0, 8)}`;
      await kubectlRun(["create", "namespace", name]);
      namespaces.push(name);
      // fails when the controller manager has created it already
      await kubectlRun(["create", "serviceaccount", "default", `--namespace=${name}`], { allowFailure: true });
      return name;
    },
  };
}
