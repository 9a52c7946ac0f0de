import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";
import { kubectlFor } from "./kubectl.ts";
import { useCluster } from "./use.ts";

const cluster = useCluster();
const { kubectlRun } = cluster;

const apply = (...objects: object[]) =>
  kubectlRun(["apply", "--filename=-"], { input: objects.map((object) => JSON.stringify(object)).join("\n---\n") });

const configMap = (namespace: string, name: string, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace, name, ...metadata },
});

describe("a cluster for tests", () => {
  test("collects what an owner leaves behind", async () => {
    const namespace = await cluster.freshNamespace("gc");
    await apply(configMap(namespace, "owner"));
    const inNamespace = `--namespace=${namespace}`;
    const { stdout: uid } = await kubectlRun([
      "get",
      "configmap/owner",
      inNamespace,
      "--output=jsonpath={.metadata.uid}",
    ]);
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
    await apply(configMap(namespace, "owned", { ownerReferences }), configMap(namespace, "free"));

    await kubectlRun(["delete", "configmap/owner", inNamespace]);
    await kubectlRun(["wait", "--for=delete", "configmap/owned", inNamespace, "--timeout=20s"]);
    await kubectlRun(["get", "configmap/free", inNamespace]);
  });

  test("deletes a namespace with what is in it", async () => {
    const namespace = await cluster.freshNamespace("gone");
    await apply(configMap(namespace, "content"));

    await kubectlRun(["delete", "namespace", namespace, "--timeout=25s"]);
    const { code, stderr } = await kubectlRun(["get", "namespace", namespace], { allowFailure: true });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("NotFound") });
  });

  test("lets a service account do what RBAC grants, and nothing else", async () => {
    const namespace = await cluster.freshNamespace("rbac");
    const inNamespace = `--namespace=${namespace}`;
    const asServiceAccount = await kubectlWithToken(namespace);
    const list = () => asServiceAccount(["get", "configmaps", inNamespace, "--output=name"], { allowFailure: true });

    expect(await list()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`system:serviceaccount:${namespace}:default`),
    });

    const subject = `--serviceaccount=${namespace}:default`;
    await kubectlRun(["create", "rolebinding", "viewer", "--clusterrole=view", subject, inNamespace]);
    await expect.poll(list).toMatchObject({ code: 0 });
    const secrets = await asServiceAccount(["get", "secrets", inNamespace], { allowFailure: true });
    expect(secrets).toMatchObject({ code: 1, stderr: expect.stringContaining("Forbidden") });
  });

  test("serves a new kind, with watches, until its definition is deleted", async () => {
    const namespace = await cluster.freshNamespace("crd");
    const group = `${namespace}.tunnelgateway.dev`;
    const crd = `widgets.${group}`;
    await apply(definitionOfWidgets(group));
    onTestFinished(async () => {
      await kubectlRun(["delete", "crd", crd, "--ignore-not-found", "--wait=false"]);
    });
    await kubectlRun(["wait", "--for=condition=Established", `crd/${crd}`, "--timeout=20s"]);

    await apply(widget(group, namespace, "before"));
    const seen = watchNames(crd, namespace);
    expect(await seen.next()).toBe(`widget.${group}/before`);
    await apply(widget(group, namespace, "after"));
    expect(await seen.next()).toBe(`widget.${group}/after`);

    await kubectlRun(["delete", "crd", crd, "--timeout=20s"]);
    const { stderr } = await kubectlRun(["get", crd, `--namespace=${namespace}`], { allowFailure: true });
    expect(stderr).toContain("the server doesn't have a resource type");
  });
});

async function kubectlWithToken(namespace: string) {
  const { stdout: token } = await kubectlRun(["create", "token", "default", `--namespace=${namespace}`]);
  const { stdout } = await kubectlRun(["config", "view", "--raw", "--minify", "--flatten", "--output=json"]);
  const config = JSON.parse(stdout);
  config.users[0].user = { token: token.trim() };
  const directory = await mkdtemp(join(tmpdir(), "kubeconfig-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const kubeconfig = join(directory, "kubeconfig");
  await writeFile(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  return kubectlFor({ kubectl: cluster.kubectl, kubeconfig });
}

function watchNames(resource: string, namespace: string): { next(): Promise<string | undefined> } {
  const args = ["get", resource, `--namespace=${namespace}`, "--watch", "--output=name"];
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
  const child = spawn(cluster.kubectl, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => {
    child.kill();
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { next: async () => (await lines.next()).value };
}

const widget = (group: string, namespace: string, name: string) => ({
  apiVersion: `${group}/v1`,
  kind: "Widget",
  metadata: { namespace, name },
});

const definitionOfWidgets = (group: string) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
});
