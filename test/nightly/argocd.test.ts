import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { kinds } from "../../src/kinds/index.ts";
import { annotations } from "../../src/schema/contract.ts";
import { BUILD_MS } from "../../tools/cluster/build/build.ts";
import { examples } from "../../tools/shared/examples.ts";
import { conditionOf, isReady, type KubeJSON, manifest, nameOf } from "../../tools/shared/objects.ts";
import { type Files, type GitServer, startGitServer } from "../e2e/support/git-server.ts";
import { isOurs } from "../support/kube.ts";
import { useWorld } from "../support/world.ts";
import { ArgoCD, type Node, redisPrograms, withoutRedis } from "./support/argocd.ts";

/**
 * Argo CD itself, with the files of examples/gitops/argocd, follows a repository. Only the address of the repository and
 * the namespace of the objects are others. The operator is a process of the test, so its application has a ConfigMap in
 * place of the chart.
 */
const NAMESPACE = "argocd";
const OBJECTS = "gateway-objects";

const redis = await redisPrograms();
const world = useWorld({
  env: { REQUESTS_PER_MINUTE: "0", MAX_DELETES_PER_MINUTE: "0", SESSION_SYNC_INTERVAL: "1s" },
  startOperator: redis !== undefined,
});
const read = (file: string) => readFile(join(import.meta.dirname, "../../examples/gitops/argocd", file), "utf8");
const kubectl = async (args: string[], input?: string) =>
  (await world.cluster.kubectlRun(["--namespace", NAMESPACE, ...args], input === undefined ? {} : { input })).stdout;

let git: GitServer;
let argocd: ArgoCD;

beforeAll(async () => {
  if (!redis) return;
  git = await startGitServer();
  await world.cluster.kubectlRun(["create", "namespace", NAMESPACE]);
  argocd = await ArgoCD.start(world.cluster, NAMESPACE, redis["redis-server"]);
}, BUILD_MS);

afterAll(async () => {
  await argocd?.stop();
  await git?.close();
  if (redis) await world.cluster.kubectlRun(["delete", "namespace", NAMESPACE, "--wait=false"]);
});

afterEach(async ({ task }) => {
  if (task.result?.state !== "fail" || !argocd) return;
  const status = await application().catch((error) => error);
  console.error(JSON.stringify(status?.status ?? String(status), undefined, 1), await argocd.lastLines());
});

const application = async (name = OBJECTS): Promise<KubeJSON> =>
  JSON.parse(await kubectl(["get", "application", name, "-o", "json"]));
const file = (...objects: KubeJSON[]): string => objects.map((object) => stringify(object)).join("---\n");
const policy = (name: string, spec: object = {}, metadata: object = {}): KubeJSON =>
  manifest("IPPolicy", name, spec, metadata) as KubeJSON;
const remotes = (): KubeJSON[] => world.simulator.control.objects("ip_policies") as KubeJSON[];
const descriptions = () => remotes().map(({ description }) => description);

/** What the button "Refresh" does. Resolves when Argo CD has looked. */
async function refresh(name = OBJECTS): Promise<void> {
  await kubectl(["annotate", "--overwrite", "application", name, "argocd.argoproj.io/refresh=hard"]);
  await world.until("Argo CD has looked", async () => {
    const { metadata } = await application(name);
    return metadata.annotations?.["argocd.argoproj.io/refresh"] === undefined;
  });
}

/** Resolves with the application when it is so for this commit. */
async function untilSo(commit: string, wanted: { sync: string; health: string }, seconds = 90): Promise<KubeJSON> {
  const what = `the application is ${JSON.stringify(wanted)}`;
  return world.until(
    what,
    async () => {
      const now = await application();
      const { sync, health } = now.status ?? {};
      const fits = sync?.status === wanted.sync && health?.status === wanted.health && sync.revision === commit;
      return fits && now;
    },
    seconds,
  );
}

const fine = { sync: "Synced", health: "Healthy" };

async function commit(files: Files): Promise<string> {
  const id = await git.commit(files);
  await refresh();
  return id;
}

async function node(kind: string, name: string): Promise<Node> {
  return world.until(`${kind} ${name} is in the tree`, async () =>
    (await argocd.tree(OBJECTS)).find((one) => one.kind === kind && one.name === name),
  );
}

/** What a sync or the operator would change of the objects. */
const versions = async (): Promise<string[]> => {
  const all = (await world.kube.all()).map((object) => `${nameOf(object)} ${object.metadata.resourceVersion}`);
  return all.sort();
};

/** Nothing is written, and no sync begins, while Argo CD compares everything anew. */
async function isQuiet(): Promise<void> {
  await world.quiet();
  const before = { versions: await versions(), operation: (await application()).status.operationState.startedAt };
  await refresh();
  const { status } = await application();
  expect(status.sync.status).toBe("Synced");
  expect((status.resources as KubeJSON[]).filter(({ status: one }) => one !== "Synced")).toEqual([]);
  await world.quiet();
  expect({ versions: await versions(), operation: (await application()).status.operationState.startedAt }).toEqual(
    before,
  );
}

async function setOptions(options: readonly string[], compare: string | undefined): Promise<void> {
  const change = {
    metadata: { annotations: { "argocd.argoproj.io/compare-options": compare ?? null } },
    spec: { syncPolicy: { syncOptions: ["CreateNamespace=true", ...options] } },
  };
  await kubectl(["patch", "application", OBJECTS, "--type=merge", "-p", JSON.stringify(change)]);
}

/** The application of the objects as the page on installing has it, for the world of this test. */
const objectsApplication = async (): Promise<string> =>
  (await read("objects.yaml"))
    .replace(/repoURL: .*/, `repoURL: ${git.url}`)
    .replace(/^( {4}namespace:) gateway-objects$/m, `$1 ${world.namespace}`);

describe.skipIf(!redis)(`Argo CD (${redis ? "with Redis" : withoutRedis})`, () => {
  test("every example is Synced and Healthy", async () => {
    const all = (await examples()).filter((object) => isOurs(object) || ["ConfigMap", "Secret"].includes(object.kind));
    await kubectl(["patch", "configmap", "argocd-cm", "--patch", await read("argocd-cm.yaml")]);
    const id = await git.commit({ "objects/examples.yaml": file(...all) });
    const begin = performance.now();
    await kubectl(["apply", "-f", "-"], await objectsApplication());
    const { status } = await untilSo(id, fine);
    console.error(`${all.length} objects are Healthy after ${Math.round((performance.now() - begin) / 1000)} s`);
    expect(status.resources).toHaveLength(all.length);
    expect((await world.kube.all()).every(isReady)).toBe(true);
  }, 180_000);

  // the second time over objects that the first has applied, and then back
  describe.each([
    ["client-side apply", []],
    ["server-side apply", ["ServerSideApply=true"]],
    ["server-side apply and diff", ["ServerSideApply=true"], "ServerSideDiff=true"],
    ["client-side apply again", []],
  ] as const)("with %s", (way, options, compare: string | undefined = undefined) => {
    test("nothing differs at rest, after a sync as well", async () => {
      await setOptions(options, compare);
      await isQuiet();
      const id = await commit({ "objects/way.yaml": file(policy("way", { description: way, metadata: "by Git" })) });
      await untilSo(id, fine);
      await isQuiet();
    }, 120_000);

    test("drift in the account is put right by the operator, and Argo CD does nothing", async () => {
      const { status } = await world.ready("IPPolicy", "way");
      const before = await application();
      world.simulator.control.patch(status.id, { description: "drifted" });
      await world.reconcileNow(policy("way"));
      expect(world.simulator.control.get(status.id)).toMatchObject({ description: way });
      await isQuiet();
      expect((await application()).status.operationState).toEqual(before.status.operationState);
    }, 120_000);

    test("drift in the cluster is put right by Argo CD", async () => {
      const before = await application();
      await world.kube.patch("IPPolicy", "way", { spec: { description: "by hand" } });
      await world.until("the description is that of Git", async () => {
        const { spec } = (await world.kube.get("IPPolicy", "way")) as KubeJSON;
        const { status } = await application();
        return spec.description === way && status.operationState.startedAt !== before.status.operationState.startedAt;
      });
      await world.until("the remote is as in Git", async () => descriptions().includes(way));
      await untilSo(before.status.sync.revision, fine);
      await isQuiet();
    }, 120_000);

    test("a field that leaves Git leaves the object and the remote", async () => {
      const id = await commit({ "objects/way.yaml": file(policy("way", { description: way })) });
      await untilSo(id, fine);
      const object = await world.ready("IPPolicy", "way");
      expect(object.spec.metadata).toBeUndefined();
      expect(String(world.simulator.control.get(object.status.id)?.["metadata"])).not.toContain("by Git");
      await isQuiet();
    }, 120_000);
  });

  test("what waits for another object is Progressing until that is there", async () => {
    const edge = manifest("TCPEdge", "waiting", {
      hostports: ["1.tcp.gateway.example:20200"],
      backend: { backendRef: { kind: "TunnelGroupBackend", name: "later" } },
    }) as KubeJSON;
    const id = await commit({ "objects/edge.yaml": file(edge) });
    await untilSo(id, { sync: "Synced", health: "Progressing" });
    expect((await node("TCPEdge", "waiting")).health?.status).toBe("Progressing");
    const backend = manifest("TunnelGroupBackend", "later", { labels: { app: "later" } }) as KubeJSON;
    await untilSo(await commit({ "objects/backend.yaml": file(backend) }), fine);
  }, 120_000);

  test("what is Stalled is Degraded with our message, and a commit that repairs it is followed", async () => {
    const broken = policy("adopted", { adopt: { id: "ipp_nothing" } });
    const id = await commit({ "objects/broken.yaml": file(broken) });
    await untilSo(id, { sync: "Synced", health: "Degraded" });
    const { reason, message } = conditionOf(await world.kube.get("IPPolicy", "adopted"), "Stalled") ?? {};
    expect((await node("IPPolicy", "adopted")).health).toEqual({
      status: "Degraded",
      message: `${reason}: ${message}`,
    });
    const repaired = await commit({ "objects/broken.yaml": file(policy("adopted")) });
    await untilSo(repaired, fine);
    await untilSo(await commit({ "objects/broken.yaml": undefined }), fine);
    await world.gone("IPPolicy", "adopted");
  }, 120_000);

  test("the tree shows what the operator makes of an object below it", async () => {
    const parents = async (kind: string) =>
      (await argocd.tree(OBJECTS))
        .filter((one) => one.kind === kind)
        .flatMap(({ name, parentRefs = [] }) => parentRefs.map((parent) => `${parent.kind}/${parent.name} ${name}`));
    const secrets = (await world.kube.list("Secret")).flatMap(({ metadata }) =>
      (metadata.ownerReferences ?? []).map((owner: KubeJSON) => `${owner.kind}/${owner.name} ${metadata.name}`),
    );
    expect(secrets.length).toBeGreaterThan(0);
    await expect.poll(async () => (await parents("Secret")).sort()).toEqual(secrets.sort());
  });

  describe("each action works", () => {
    test("on each object that the operator manages", async () => {
      const nodes = (await argocd.tree(OBJECTS)).filter(isOurs);
      expect(new Set(nodes.map(({ kind }) => kind))).toEqual(new Set(kinds.map(({ kind }) => kind)));
      const first = [...new Map(nodes.map((one) => [one.kind, one])).values()];
      for (const one of first) expect(await offered(one), one.kind).toEqual(["pause", "reconcile"]);
      await Promise.all(first.map((one) => argocd.act(OBJECTS, one, "reconcile")));
      for (const { kind, name } of first) {
        await world.until(`${kind} ${name} was looked at`, async () => {
          const object = (await world.kube.get(kind, name)) as KubeJSON;
          const asked = object.metadata.annotations?.[annotations.reconcileRequestedAt];
          return asked !== undefined && object.status.lastHandledReconcileAt === asked;
        });
      }
      await Promise.all(first.map((one) => argocd.act(OBJECTS, one, "pause")));
      await healthOf(first, "Suspended");
      for (const one of first) expect(await offered(one), one.kind).toEqual(["resume"]);
      await refresh();
      expect((await application()).status.health.status).toBe("Suspended");
      await Promise.all(first.map((one) => argocd.act(OBJECTS, one, "resume")));
      await healthOf(first, "Healthy");
      await isQuiet();
    }, 180_000);

    test("on an account", async () => {
      const apiKeySecretRef = { name: "mine", key: "key" };
      const account = manifest("GatewayAccount", "mine", { apiKeySecretRef }) as KubeJSON;
      const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "mine" } };
      const stringData = { key: world.simulator.apiKey };
      await untilSo(await commit({ "objects/account.yaml": file(account, { ...secret, stringData }) }), fine);
      const one = await node("GatewayAccount", "mine");
      expect(await offered(one)).toEqual(["reconcile"]);
      // an object at rest costs no request, so whatever lists these is the check of the key
      await world.quiet();
      const checks = () => world.simulator.control.requests({ method: "GET", path: "/ip_policies" }).length;
      const before = checks();
      await argocd.act(OBJECTS, one, "reconcile");
      await world.until("the key was checked", async () => checks() > before);
      await isQuiet();
    }, 120_000);

    test("on a command, until it has finished", async () => {
      const command = (region: string) => {
        const selector = { matchLabels: { "tunnelgateway.dev/region": region } };
        return manifest("AgentCommand", region, { command: "Restart", selector }) as KubeJSON;
      };
      // the metadata tells the agents apart: without it, the one that comes back could be either of them
      world.simulator.control.addSession({ region: "eu", metadata: "eu" }, { restartMs: 600_000 });
      world.simulator.control.addSession({ region: "us", metadata: "us" }, { restartMs: 1 });
      await world.until("there are sessions", async () => (await world.kube.list("TunnelSession")).length === 2);
      const id = await commit({ "objects/commands.yaml": file(command("eu"), command("us")) });
      await untilSo(id, { sync: "Synced", health: "Progressing" });
      const [running, finished] = [await node("AgentCommand", "eu"), await node("AgentCommand", "us")];
      expect(await offered(running)).toEqual(["pause"]);
      await expect.poll(() => offered(finished)).toEqual([]);
      await argocd.act(OBJECTS, running, "pause");
      await expect.poll(() => offered(running)).toEqual(["resume"]);
      await argocd.act(OBJECTS, running, "resume");
      await expect.poll(() => offered(running)).toEqual(["pause"]);
      await untilSo(await commit({ "objects/commands.yaml": undefined }), fine);
    }, 120_000);
  });

  test("what leaves Git leaves the account, in the reverse order of the waves", async () => {
    const wave = (number: number) => ({ annotations: { "argocd.argoproj.io/sync-wave": String(number) } });
    const waves = [1, 2, 3].map((number) => policy(`wave-${number}`, { description: `wave ${number}` }, wave(number)));
    await untilSo(await commit({ "objects/waves.yaml": file(...waves) }), fine);
    const ids = await Promise.all(
      waves.map(async ({ metadata }) => (await world.ready("IPPolicy", metadata.name)).status.id),
    );
    expect(
      requestsFor("POST")
        .map(({ body }) => (body as KubeJSON).description)
        .slice(-3),
    ).toEqual(["wave 1", "wave 2", "wave 3"]);
    await untilSo(await commit({ "objects/waves.yaml": undefined }), fine);
    await world.gone("IPPolicy", "wave-1");
    expect(
      requestsFor("DELETE")
        .map(({ path }) => path.split("/").at(-1))
        .slice(-3),
    ).toEqual(ids.reverse());
  }, 180_000);

  test("when the application is deleted, its objects go first, and nothing is left in the account", async () => {
    await kubectl(["delete", "application", OBJECTS, "--timeout=120s"]);
    expect((await world.kube.all()).map(nameOf)).toEqual([]);
    expect(remotes()).toEqual([]);
  }, 180_000);

  test("an application of applications deletes the objects before the operator", async () => {
    const operator = parse(await read("operator.yaml"));
    const { repoURL, path, targetRevision } = { repoURL: git.url, path: "operator", targetRevision: "main" };
    operator.spec.source = { repoURL, path, targetRevision };
    operator.spec.destination.namespace = world.namespace;
    const id = await git.commit({
      "apps/operator.yaml": stringify(operator),
      "apps/objects.yaml": await objectsApplication(),
      "objects/examples.yaml": undefined,
      "objects/one.yaml": file(policy("one")),
      "operator/operator.yaml": file({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "operator" } }),
    });
    const names = async (): Promise<string[]> =>
      JSON.parse(await kubectl(["get", "applications", "-o", "json"])).items.map((one: KubeJSON) => one.metadata.name);
    const root = parse(await objectsApplication());
    root.metadata.name = "gateway";
    root.spec.source.path = "apps";
    root.spec.destination.namespace = NAMESPACE;
    await kubectl(["apply", "-f", "-"], stringify(root));
    await world.until("the root has made the application", async () => (await names()).includes(OBJECTS));
    await untilSo(id, fine);
    await world.ready("IPPolicy", "one");
    // the service keeps the policy for a while
    const refusal = { status: 500, body: {} };
    world.simulator.control.fault({ method: "DELETE", path: "/ip_policies/", times: 100, action: refusal });
    try {
      await kubectl(["delete", "application", "gateway", "--wait=false"]);
      await world.until("the policy is being deleted", async () => {
        const one = await world.kube.get("IPPolicy", "one");
        return one?.metadata.deletionTimestamp !== undefined && conditionOf(one, "Ready")?.status !== "True";
      });
      expect((await application(OBJECTS)).metadata.deletionTimestamp).toBeDefined();
      expect((await application("tunnel-gateway-operator")).metadata.deletionTimestamp).toBeUndefined();
    } finally {
      // applications are deleted after the tests, which would wait for this
      world.simulator.control.clearFaults();
    }
    await world.until("no application is left", async () => (await names()).length === 0);
    expect(remotes()).toEqual([]);
  }, 180_000);
});

const requestsFor = (method: string) => world.changesSent().filter((request) => request.method === method);

/** The names of the actions that can be chosen. */
async function offered(one: Node): Promise<string[]> {
  const actions = await argocd.actions(OBJECTS, one);
  return actions
    .filter(({ disabled }) => !disabled)
    .map(({ name }) => name)
    .sort();
}

async function healthOf(nodes: readonly Node[], wanted: string): Promise<void> {
  const names = new Set(nodes.map(({ kind, name }) => `${kind}/${name}`));
  await world.until(`all are ${wanted}`, async () => {
    const now = (await argocd.tree(OBJECTS)).filter(({ kind, name }) => names.has(`${kind}/${name}`));
    return now.length === names.size && now.every(({ health }) => health?.status === wanted);
  });
}
