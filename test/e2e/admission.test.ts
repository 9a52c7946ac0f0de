import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { useCluster } from "../../tools/cluster/use.ts";
import type { KubeJSON } from "../../tools/shared/objects.ts";
import { definitionsOf } from "./support/foreign-definitions.ts";
import { chart, type Helm, helmFor, objectsIn, set, succeeded } from "./support/helm.ts";

const cluster = useCluster();

let home: string;
let helm: Helm;
beforeAll(async () => {
  for (const file of await definitionsOf("prometheus")) {
    // those that are there already are left as they are
    await cluster.kubectlRun(["create", "-f", file], { allowFailure: true });
    await cluster.kubectlRun(["wait", "--for=condition=Established", "-f", file]);
  }
  home = await mkdtemp(join(tmpdir(), "helm-"));
  helm = await helmFor({ home, kubeconfig: cluster.kubeconfig });
});
afterAll(() => rm(home, { recursive: true }));

/** A Deployment and a Job are accepted whatever their pods are like, so these are shown by themselves. */
function podOf({ kind, metadata, spec }: KubeJSON): object[] {
  const pod = spec?.template?.spec;
  const name = `${metadata.name}-${kind.toLowerCase()}`;
  return pod ? [{ apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name }, spec: pod }] : [];
}

test("every object is accepted where pods are restricted", async () => {
  const namespace = await cluster.freshNamespace("restricted");
  await cluster.kubectlRun(["label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted"]);
  const values = set({
    "gateway.baseURL": "https://api.gateway.example",
    replicaCount: 2,
    "networkPolicy.enabled": true,
    "metrics.grafanaDashboard.enabled": true,
    "metrics.renderMode": "alwaysRender",
    "metrics.serviceMonitor.enabled": true,
    "metrics.podMonitor.enabled": true,
    "metrics.prometheusRule.enabled": true,
  });
  const rendered = await succeeded(helm("template", namespace, chart, "--namespace", namespace, ...values));
  const objects = objectsIn(rendered);
  const pods = objects.flatMap(podOf);
  expect(pods).toHaveLength(2);
  const kinds = objects.map(({ kind }) => kind);
  expect(kinds).toEqual(expect.arrayContaining(["ServiceMonitor", "PodMonitor", "PrometheusRule", "NetworkPolicy"]));

  const apply = (given: object[], ...args: string[]) =>
    cluster.kubectlRun(["apply", "--server-side", "--force-conflicts", ...args, "-f", "-"], {
      input: given.map((object) => JSON.stringify(object)).join("\n---\n"),
    });
  // pods are admitted only with their accounts
  await apply(objects.filter(({ kind }) => kind === "ServiceAccount"));
  const { stderr } = await apply([...objects, ...pods], "--dry-run=server");
  expect(stderr).not.toMatch(/warning/i);
});
