import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { BUILD_MS } from "../../tools/cluster/build/build.ts";
import { examples } from "../../tools/shared/examples.ts";
import { conditionOf, isReady, type KubeJSON, manifest } from "../../tools/shared/objects.ts";
import { Flux } from "../e2e/support/flux.ts";
import { type Files, type GitServer, startGitServer } from "../e2e/support/git-server.ts";
import { objectsIn } from "../e2e/support/helm.ts";
import { isOurs } from "../support/kube.ts";
import { useWorld } from "../support/world.ts";

/**
 * Flux itself, with the GitRepository and the Kustomizations of examples/gitops/flux, follows a repository. Only the
 * address of the repository is another one. The operator is a process of the test, so the folder operator/ has the
 * namespace of operator.yaml, and a ConfigMap in place of the rest.
 */
const NAMESPACE = "flux-system";
const MANY = 500;

const world = useWorld({ env: { REQUESTS_PER_MINUTE: "0", MAX_DELETES_PER_MINUTE: "0" } });
const read = (file: string) => readFile(join(import.meta.dirname, "../../examples/gitops/flux", file), "utf8");

let git: GitServer;
let flux: Flux;
let requests = 0;

beforeAll(async () => {
  git = await startGitServer();
  await world.cluster.kubectlRun(["create", "namespace", NAMESPACE]);
  flux = await Flux.start(world.cluster, NAMESPACE);
}, BUILD_MS);

afterAll(async () => {
  await flux?.stop();
  await git?.close();
  await world.cluster.kubectlRun(["delete", "namespace", NAMESPACE, "--wait=false"]);
});

afterEach(async ({ task }) => {
  if (task.result?.state !== "fail") return;
  console.error(JSON.stringify((await objects()).status, undefined, 2), await flux.lastLines());
});

const kubectl = async (args: string[], input?: string) =>
  (await world.cluster.kubectlRun(["--namespace", NAMESPACE, ...args], input === undefined ? {} : { input })).stdout;
const objects = async (): Promise<KubeJSON> =>
  JSON.parse(await kubectl(["get", "kustomization", "gateway-objects", "-o", "json"]));

/** The objects as a file of the repository. */
const file = (...given: KubeJSON[]): string =>
  given
    .map((object) => stringify({ ...object, metadata: { ...object.metadata, namespace: world.namespace } }))
    .join("---\n");
const policy = (name: string, spec: object = {}): KubeJSON => manifest("IPPolicy", name, spec) as KubeJSON;

/** The namespace of operator.yaml, with a name of its own in the shared cluster. */
async function operatorNamespace(): Promise<KubeJSON> {
  const [namespace] = objectsIn(await read("operator.yaml"));
  return { ...namespace, metadata: { ...namespace.metadata, name: `${world.namespace}-operator` } };
}

/** What `flux reconcile kustomization --with-source` does. */
async function reconcile(): Promise<void> {
  const request = `reconcile.fluxcd.io/requestedAt=${++requests}`;
  await kubectl(["annotate", "--overwrite", "gitrepository", "gateway", request]);
  await world.until("the repository is read", async () => {
    const { status } = JSON.parse(await kubectl(["get", "gitrepository", "gateway", "-o", "json"]));
    return status?.lastHandledReconcileAt === String(requests);
  });
  await kubectl(["annotate", "--overwrite", "kustomization", "gateway-objects", request]);
}

/** Resolves with the Kustomization of the objects when its condition Ready for this commit is as wanted. */
async function kustomization(commit: string, wanted: { status: string; reason?: string }, seconds = 60) {
  return world.until(
    `the Kustomization is ${JSON.stringify(wanted)}`,
    async () => {
      const object = await objects();
      const { status = {} } = object;
      const { status: now, reason } = conditionOf(object, "Ready") ?? {};
      const revision = now === "True" ? status.lastAppliedRevision : status.lastAttemptedRevision;
      const fits = now === wanted.status && (wanted.reason === undefined || wanted.reason === reason);
      return fits && revision?.endsWith(commit) && object;
    },
    seconds,
  );
}

async function commit(files: Files): Promise<string> {
  const id = await git.commit(files);
  await reconcile();
  return id;
}

const remotes = (): KubeJSON[] => world.simulator.control.objects("ip_policies") as KubeJSON[];
const descriptions = () => remotes().map(({ description }) => description);

test("every example becomes Ready without a health expression", async () => {
  const all = (await examples()).filter((object) => isOurs(object) || ["ConfigMap", "Secret"].includes(object.kind));
  const first = await git.commit({
    "operator/operator.yaml": file({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "operator" } } as KubeJSON),
    "operator/namespace.yaml": stringify(await operatorNamespace()),
    "objects/examples.yaml": file(...all),
  });
  const text = await read("kustomizations.yaml");
  await kubectl(["apply", "-f", "-"], text.replace(/url: .*/, `url: ${git.url}`));
  await kustomization(first, { status: "True" });
  expect((await world.kube.list(...new Set(all.filter(isOurs).map(({ kind }) => kind as string)))).every(isReady)).toBe(
    true,
  );
});

test("a commit changes the remote", async () => {
  const id = await commit({ "objects/one.yaml": file(policy("one", { description: "first" })) });
  await kustomization(id, { status: "True" });
  expect(descriptions()).toContain("first");
  const next = await commit({ "objects/one.yaml": file(policy("one", { description: "second" })) });
  await kustomization(next, { status: "True" });
  expect(descriptions()).toContain("second");
  expect(descriptions()).not.toContain("first");
});

test("while the Kustomization is suspended nothing changes, and when it is resumed the commits are applied", async () => {
  await kubectl(["patch", "kustomization", "gateway-objects", "--type=merge", "-p", '{"spec":{"suspend":true}}']);
  const id = await commit({ "objects/one.yaml": file(policy("one", { description: "third" })) });
  await world.quiet();
  expect(descriptions()).toContain("second");
  await kubectl(["patch", "kustomization", "gateway-objects", "--type=merge", "-p", '{"spec":{"suspend":false}}']);
  await kustomization(id, { status: "True" });
  expect(descriptions()).toContain("third");
});

test("an object that waits for another one holds the Kustomization back until that one exists", async () => {
  const edge = manifest("TCPEdge", "waiting", {
    hostports: ["1.tcp.gateway.example:20200"],
    backend: { backendRef: { kind: "TunnelGroupBackend", name: "later" } },
  }) as KubeJSON;
  const id = await commit({ "objects/edge.yaml": file(edge) });
  const now = await kustomization(id, { status: "Unknown" });
  expect(conditionOf(now, "Ready")).toMatchObject({ reason: "Progressing" });
  await world.condition("TCPEdge", "waiting", { type: "Ready", status: "False" });
  await world.kube.apply(manifest("TunnelGroupBackend", "later", { labels: { app: "later" } }));
  await kustomization(id, { status: "True" });
});

test("a Stalled object fails the Kustomization early, and a commit that repairs the object is applied", async () => {
  const broken = manifest("IPPolicy", "adopted", { adopt: { id: "ipp_nothing" } }) as KubeJSON;
  const id = await commit({ "objects/broken.yaml": file(broken) });
  const failed = await kustomization(id, { status: "False", reason: "HealthCheckFailed" });
  const { message } = conditionOf(failed, "Ready") ?? {};
  expect(message).toContain("failed early due to stalled resources");
  expect(message).toContain(`IPPolicy/${world.namespace}/adopted`);
  const repaired = await commit({ "objects/broken.yaml": file(policy("adopted")) });
  await kustomization(repaired, { status: "True" });
});

test("an object that is removed from the repository is removed from the account", async () => {
  const id = await commit({ "objects/one.yaml": undefined, "objects/broken.yaml": undefined });
  await kustomization(id, { status: "True" });
  await world.gone("IPPolicy", "one");
  expect(descriptions()).not.toContain("third");
});

test(`${MANY} objects become Ready together`, async () => {
  const many = Array.from({ length: MANY }, (_, index) => policy(`many-${index}`, { description: `many ${index}` }));
  const begin = performance.now();
  const id = await commit({ "objects/many.yaml": file(...many) });
  await kustomization(id, { status: "True" }, 180);
  console.error(`${MANY} objects are Ready ${Math.round((performance.now() - begin) / 1000)} s after their commit`);
  expect(descriptions().filter((text) => String(text).startsWith("many "))).toHaveLength(MANY);
});

test("when the Kustomization is deleted it waits until nothing is left in the account", async () => {
  await kubectl(["delete", "kustomization", "gateway-objects", "--timeout=200s"]);
  expect(remotes()).toEqual([]);
  const left = (await world.kube.custom()).filter(isOurs);
  expect(left.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(["TunnelGroupBackend later"]);
});

// guards against a chart that cannot be uninstalled: its hook is a Job in this namespace
test("the namespace of the operator stays when its Kustomization is deleted", async () => {
  await kubectl(["delete", "kustomization", "tunnel-gateway-operator", "--timeout=100s"]);
  expect(await world.kube.get("ConfigMap", "operator")).toBeUndefined();
  const { metadata } = await operatorNamespace();
  const { stdout } = await world.cluster.kubectlRun(["get", "namespace", metadata.name, "-o", "json"]);
  expect(JSON.parse(stdout).metadata.deletionTimestamp).toBeUndefined();
  await world.cluster.kubectlRun(["delete", "namespace", metadata.name, "--wait=false"]);
});
