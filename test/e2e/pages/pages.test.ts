import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { helmBinary } from "../../../tools/cluster/build/build.ts";
import type { Cluster } from "../../../tools/cluster/cluster.ts";
import { startCluster } from "../../../tools/cluster/start.ts";
import { conditionOf, isReady, type KubeJSON } from "../../../tools/shared/objects.ts";
import { type Simulator, startSimulator } from "../../../tools/simulator/simulator.ts";
import { definitionsOf } from "../support/foreign-definitions.ts";
import { chart, type Helm, helmFor, objectsIn, succeeded } from "../support/helm.ts";
import { Kubelet } from "../support/kubelet.ts";
import { Page, Shell } from "../support/page.ts";

/**
 * Does what the pages for users say, in their words, with kubectl and Helm on the PATH and a node that runs what the
 * chart deploys. What cannot exist here is replaced: the registry by the chart's folder, and the address and key of the
 * service by those of the simulator. Each block of each page has to be used by some test.
 */
const root = join(import.meta.dirname, "../../..");
const OCI = "oci://ghcr.io/tunnelgateway/charts/tunnel-gateway-operator";
const NAMESPACE = "tunnel-gateway";

let cluster: Cluster;
let simulator: Simulator;
let kubelet: Kubelet;
let helm: Helm;
let directory: string;
let shell: Shell;
let pages: Record<
  "start" | "readme" | "install" | "settings" | "uninstall" | "backup" | "chart" | "scale" | "traces",
  Page
>;

/** A checkout that may be written to. */
async function checkout(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "checkout-"));
  // programs are put beside that of the checkout
  const own = (await readdir(root)).filter((name) => name !== "bin");
  await mkdir(join(made, "bin"));
  for (const name of [...own, "bin/kubectl-tunnelgateway"]) await symlink(join(root, name), join(made, name));
  return made;
}

async function tool(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  await chmod(path, 0o755);
}

beforeAll(async () => {
  cluster = await startCluster();
  [simulator, kubelet, directory] = await Promise.all([startSimulator(), Kubelet.start(cluster), checkout()]);
  const home = join(directory, "home");
  helm = await helmFor({ home, kubeconfig: cluster.kubeconfig });
  await tool(join(directory, "bin/kubectl"), `#!/bin/sh\nexec ${cluster.kubectl} "$@"\n`);
  await tool(join(directory, "bin/helm"), `#!/bin/sh\nexec ${await helmBinary()} "$@"\n`);
  // signatures are of releases, which a test has not; its arguments are looked at
  await tool(join(directory, "bin/cosign"), '#!/bin/sh\necho "$@"\n');
  await tool(join(home, ".gateway-api-key"), simulator.apiKey);
  shell = new Shell(directory, {
    env: {
      PATH: `${join(directory, "bin")}:${process.env["PATH"]}`,
      KUBECONFIG: cluster.kubeconfig,
      HOME: home,
      HELM_CACHE_HOME: home,
      HELM_CONFIG_HOME: home,
      HELM_DATA_HOME: home,
      METRICS_ADDRESS: "127.0.0.1:0",
    },
    substitutions: new Map([
      [OCI, "charts/tunnel-gateway-operator"],
      ["https://api.gateway.example", simulator.url],
      ["<API key>", simulator.apiKey],
    ]),
  });
  pages = {
    start: await Page.read("docs/README.md", shell),
    readme: await Page.read("README.md", shell),
    install: await Page.read("docs/install.md", shell),
    settings: await Page.read("docs/settings.md", shell),
    uninstall: await Page.read("docs/uninstall.md", shell),
    backup: await Page.read("docs/backup.md", shell),
    chart: await Page.read("charts/tunnel-gateway-operator/README.md", shell),
    scale: await Page.read("docs/scale.md", shell),
    traces: await Page.read("docs/traces.md", shell),
  };
});
afterAll(async () => {
  shell?.leave();
  await kubelet?.[Symbol.asyncDispose]();
  await simulator?.stop();
  await cluster?.stop();
  if (directory) await rm(directory, { recursive: true });
});

// each step stands on the one before
let isBroken = false;
beforeEach(({ skip }) => skip(isBroken, "an earlier step failed"));
afterEach(async ({ task }) => {
  isBroken ||= task.result?.state === "fail";
  if (task.result?.state !== "fail") return;
  const there = await kubectl("get", "tunnelgateway,pods,leases,namespaces", "-A", "-o", "wide").catch(String);
  console.error(`${kubelet.output}\n${there}`);
});

const kubectl = async (...args: string[]) => (await cluster.kubectlRun(args)).stdout;
const objects = async (): Promise<KubeJSON[]> =>
  JSON.parse(await kubectl("get", "tunnelgateway", "-A", "-o", "json")).items;
const inAccount = (): number => Object.values(simulator.control.summary()).reduce((sum, count) => sum + count, 0);

const deleteDefinitions = () => kubectl("delete", "crds", "-l", "app.kubernetes.io/part-of=tunnel-gateway-operator");

/** Renders the chart with the values of a block, and the least that it needs besides. */
async function rendered(values: string): Promise<KubeJSON[]> {
  const file = join(directory, "values.yaml");
  await writeFile(file, values);
  const base = ["--set", `gateway.baseURL=${simulator.url}`];
  return objectsIn(await succeeded(helm("template", "any", chart, ...base, "--values", file)));
}

describe("with Helm", () => {
  test("it is installed, and works", async () => {
    await pages.install.run("Install");
    await pages.install.run("Helm");
    const [pod] = JSON.parse(await kubectl("get", "pods", "-n", NAMESPACE, "-o", "json")).items;
    expect(conditionOf(pod, "Ready")?.status).toBe("True");
  });

  test("the first manifest of the README does what it shows", async () => {
    await writeFile(join(directory, "first.yaml"), pages.readme.take("A first manifest", "yaml"));
    await pages.readme.run("A first manifest");
    expect((await objects()).filter(isReady)).toHaveLength(3);
    await pages.readme.run("A first manifest");
  });

  test("helm test finds nothing to say", () => pages.install.run("Check an installation"));

  test("a pod that no node would run waits, and its status says why", async () => {
    const pod = ["run", "group-alone", "-n", NAMESPACE, "--image=any", "--restart=Never"];
    await kubectl(...pod, '--overrides={"spec":{"securityContext":{"runAsGroup":65532}}}');
    const look = () => kubectl("get", "pod", "group-alone", "-n", NAMESPACE, "-o", "json");
    await vi.waitFor(
      async () => {
        const { phase, containerStatuses } = JSON.parse(await look()).status;
        expect(phase).toBe("Pending");
        expect(containerStatuses[0].state.waiting.message).toContain('user group "65532" is specified without user');
      },
      { timeout: 60_000, interval: 500 },
    );
    await kubectl("delete", "pod", "group-alone", "-n", NAMESPACE);
  });

  test("a backup has the objects with their ids, and the values", async () => {
    await pages.backup.run("Back up by hand");
    const saved = async (file: string) => parse(await readFile(join(directory, file), "utf8"));
    const { items } = await saved("objects.yaml");
    expect(items.map(({ status }: KubeJSON) => status.id)).toEqual((await objects()).map(({ status }) => status.id));
    expect(items).not.toEqual([]);
    expect((await saved("values.yaml")).gateway.baseURL).toBe(simulator.url);
  });

  test("it is upgraded, and rolled back", async () => {
    const before = inAccount();
    await pages.install.run("Upgrade");
    expect(inAccount()).toBe(before);
  });

  test("a namespace is deleted after its objects", async () => {
    const before = inAccount();
    await kubectl("create", "namespace", "team-a");
    await kubectl("apply", "-n", "team-a", "-f", join(directory, "first.yaml"));
    await kubectl("wait", "-n", "team-a", "--for=condition=Ready", "tcpedge/ssh", "--timeout=30s");
    await pages.uninstall.run("A namespace");
    expect(inAccount()).toBe(before);
  });

  test("it is uninstalled with all that it made, by its hook", async () => {
    expect(inAccount()).toBeGreaterThan(0);
    await pages.uninstall.run("Helm");
    expect(inAccount()).toBe(0);
    expect(await objects()).toEqual([]);
    // A pod is there until its process has ended.
    const left = () => kubectl("get", "deployments,jobs,pods", "-n", NAMESPACE, "-o", "name");
    await vi.waitFor(async () => expect(await left()).toBe(""), { timeout: 60_000, interval: 500 });
  });

  test("the kinds are still there, and go when they are deleted", async () => {
    expect(await kubectl("get", "crds", "-o", "name")).toContain("tcpedges.tunnelgateway.dev");
    await pages.uninstall.run("Definitions");
    expect(await kubectl("get", "crds", "-o", "name")).not.toContain("tunnelgateway.dev");
    await kubectl("delete", "namespace", NAMESPACE);
  });
});

describe("with plain manifests", () => {
  test("it is installed, from the file of definitions that a release has", async () => {
    await shell.run(`.ci/package somebody sha256:${"0".repeat(64)} "$PWD/release"; cp release/crds.yaml .`);
    await pages.install.run("Plain manifests");
    await kubectl("apply", "-f", join(directory, "first.yaml"));
    await kubectl("wait", "--for=condition=Ready", "tcpedge/ssh", "--timeout=30s");
  });

  test("its objects are let go of by hand, and the account keeps what they stand for", async () => {
    const before = inAccount();
    await pages.uninstall.run("By hand");
    expect(inAccount()).toBe(before);
    expect((await objects()).filter(({ metadata }) => metadata.finalizers)).toEqual([]);
    await pages.uninstall.run("By hand");
    await kubectl("delete", "namespace", NAMESPACE);
    await deleteDefinitions();
  });
});

test("from a checkout, outside the cluster, it starts and stops", async () => {
  const printed = await pages.settings.runUntil("Run it outside the cluster", '"msg":"Started"');
  expect(printed).toContain('"msg":"Stopped"');
  // Helm takes over no definitions that it has not made
  await deleteDefinitions();
});

test("with the chart's own page", async () => {
  await pages.chart.run("tunnel-gateway-operator");
  await succeeded(helm("uninstall", NAMESPACE));
});

describe("with GitOps", () => {
  beforeAll(async () => {
    for (const file of await definitionsOf("gitops")) await kubectl("apply", "--server-side", "-f", file);
    await kubectl("create", "namespace", "argocd");
    await kubectl("create", "configmap", "argocd-cm", "-n", "argocd");
    await kubectl("create", "namespace", "flux-system");
  });

  test("Argo CD's kinds take the applications, and argocd-cm its scripts", async () => {
    await pages.install.run("Argo CD");
    const { data } = JSON.parse(await kubectl("get", "configmap", "argocd-cm", "-n", "argocd", "-o", "json"));
    expect(data["resource.customizations"]).toContain("health.lua");
    // the look at objects that are being deleted
    await pages.install.run("Argo CD");
  });

  test("Flux's kinds take its objects", async () => {
    await pages.install.run("Flux");
    // Flux applies this one, from the repository
    await kubectl("apply", "--server-side", "-f", join(root, "examples/gitops/flux/operator.yaml"));
  });
});

test.each([
  ["install", "Proxy and certificate authorities", { HTTPS_PROXY: "http://proxy.example:3128" }],
  ["scale", "Divide by namespaces", { INSTALLATION: "east", WATCH_NAMESPACES: "team-a,team-b" }],
  ["scale", "Divide by labels", { INSTALLATION: "canary", WATCH_SELECTOR: "example.com/release=canary" }],
  ["scale", "Divide by labels", { INSTALLATION: "default", WATCH_SELECTOR: "example.com/release notin (canary)" }],
  ["traces", "Traces", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.monitoring:4318" }],
] as const)("values of the page %s are values of the chart: %s", async (page, heading, expected) => {
  const objects = await rendered(pages[page].take(heading, "yaml"));
  const { env } = objects.find(({ kind }) => kind === "Deployment").spec.template.spec.containers[0];
  for (const [name, value] of Object.entries(expected)) expect(env).toContainEqual({ name, value });
});

test("the chart of a release has the image of its owner, by the digest", async () => {
  const digest = `sha256:${"0".repeat(64)}`;
  const [packed] = (await readdir(join(directory, "release"))).filter((name) => name.endsWith(".tgz"));
  const base = ["--set", `gateway.baseURL=${simulator.url}`];
  const objects = objectsIn(
    await succeeded(helm("template", "any", join(directory, "release", packed ?? ""), ...base)),
  );
  const { image } = objects.find(({ kind }) => kind === "Deployment").spec.template.spec.containers[0];
  expect(image).toBe(`ghcr.io/somebody/tunnel-gateway-operator@${digest}`);
});

test("the signature that is verified is that of the image", async () => {
  const arguments_ = await pages.install.run("The image");
  const { image } = (await rendered("{}")).find(({ kind }) => kind === "Deployment").spec.template.spec.containers[0];
  expect(arguments_).toContain(`verify ${image} `);
});

test("no block is left that nobody has tried", async () => {
  const ci = await readFile(join(root, ".ci/run"), "utf8");
  for (const block of [pages.readme.take("Try it", "console"), pages.start.take("What it is", "console")]) {
    expect(ci).toContain(block.trim().replace("$ ", ""));
  }
  // run in test/e2e/pages/how-tos.test.ts, on the demo
  pages.readme.take("tunnel-gateway-operator", "console");
  // compared with what the command prints in test/integration/commands/uninstall.test.ts
  pages.uninstall.take("What stays in use", "text");
  const left = Object.entries(pages).flatMap(([name, { unused }]) => unused.map((block) => `${name}: ${block}`));
  expect(left).toEqual([]);
});
