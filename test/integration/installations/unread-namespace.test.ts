import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { customResources } from "../../../src/kinds/index.ts";
import { operatorGrants, secretWriteGrants, stateGrants } from "../../../src/schema/access.ts";
import { kubeconfigFor } from "../../../tools/shared/kubeconfig.ts";
import { conditionOf, isReady, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { command } from "../../support/command.ts";
import { Kube } from "../../support/kube.ts";
import { useWorld } from "../../support/world.ts";

// The operator has the rights of a Role in each of its namespaces, and no others. The second namespace does not exist.

const world = useWorld({ startOperator: false });

let directory: string;
let late: string;
let inLate: Kube;
let kubeconfig: string;

const role = () => `${world.namespace}-operator`;
const environment = () => ({ WATCH_NAMESPACES: `${world.namespace},${late}`, CLUSTER_ID: "blue" });
const wayOut = () => `Let the operator read namespace "${late}", or take it out of WATCH_NAMESPACES`;

const grant = (namespace: string) =>
  world.cluster.kubectlRun([
    ...["create", "rolebinding", "operator", `--clusterrole=${role()}`, `--namespace=${namespace}`],
    `--serviceaccount=${world.namespace}:operator`,
  ]);

async function create(namespace: string): Promise<void> {
  await world.cluster.kubectlRun(["create", "namespace", namespace]);
  await grant(namespace);
}

beforeAll(async () => {
  late = `${world.namespace}-late`;
  inLate = new Kube(world.cluster.kubeconfig, late);
  const granted = [...operatorGrants(customResources), ...secretWriteGrants(customResources), ...stateGrants()];
  const rules = granted.map(({ rule }) => rule);
  const clusterRole = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" };
  await world.apply({ ...clusterRole, metadata: { name: role() }, rules });
  await world.kubectl("create", "serviceaccount", "operator");
  await grant(world.namespace);
  const token = (await world.kubectl("create", "token", "operator")).stdout.trim();
  directory = await mkdtemp(join(tmpdir(), "kubeconfig-"));
  kubeconfig = join(directory, "kubeconfig");
  const access = { server: world.cluster.url, skipsTLSVerification: true, token };
  await writeFile(kubeconfig, kubeconfigFor(access), { mode: 0o600 });
});

afterAll(async () => {
  await world.operator.stop();
  await inLate.close();
  await world.cluster.kubectlRun(["delete", "namespace", late, "--ignore-not-found", "--wait=false"]);
  await world.cluster.kubectlRun(["delete", "clusterrole", role()]);
  await rm(directory, { recursive: true });
});

const control = () => world.simulator.control;
const connected = (namespace: string) => world.operator.metric("tunnelgateway_namespace_connected", { namespace });
const messageOf = async (kind: string, name: string) => conditionOf(await world.get(kind, name), "Ready")?.message;
const readyz = () => world.operator.read("/readyz");
const isReadyLate = async (kind: string, name: string) => isReady((await inLate.get(kind, name)) as KubeJSON);

test("a namespace that does not exist stops itself only, nothing that may be its own is touched, and all is told", async () => {
  const theirs = control().insert("ip_policies", { description: "of somebody there" });
  const marked = control().insert("ip_policies", { metadata: `{"tunnelgateway.dev/owner":"blue/${late}/office"}` });
  await world.startOperator(environment(), { kubeconfig });
  await world.kube.apply(manifest("IPPolicy", "office", {}), manifest("TCPEdge", "db", {}));
  await world.ready("IPPolicy", "office");
  await world.ready("TCPEdge", "db");

  await world.kube.apply(manifest("IPPolicy", "theirs", { adopt: { id: theirs["id"] } }));
  await world.kube.apply(manifest("IPPolicy", "marked", { adopt: { id: marked["id"] } }));
  await world.delete("IPPolicy", "office", "--wait=false");
  await world.condition("IPPolicy", "office", { type: "Ready", reason: "InUse" });
  for (const name of ["theirs", "marked"])
    await world.condition("IPPolicy", name, { type: "Ready", reason: "OwnershipConflict" });
  const wait = `objects of namespace "${late}", or take it out of WATCH_NAMESPACES: `;
  expect(await messageOf("IPPolicy", "office")).toContain(`${wait}they may use this IPPolicy`);
  expect(await messageOf("IPPolicy", "theirs")).toContain(`${wait}one of them may have ${theirs["id"]}`);
  expect(await messageOf("IPPolicy", "marked")).toContain(`it belongs to blue/${late}/office`);
  expect(
    control()
      .requests()
      .filter(({ method }) => method !== "GET" && method !== "POST"),
  ).toEqual([]);

  expect(await readyz()).toContain(`[-] informers: ${wayOut()}: `);
  expect([await connected(world.namespace), await connected(late)]).toEqual([1, 0]);
  const doctor = await command(world, ["doctor"], {
    ...environment(),
    KUBECONFIG: kubeconfig,
    LEADER_ELECTION: "false",
  });
  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining(`${wayOut()}: no right is granted there`) });
});

test("it begins by itself when the namespace and its right appear, and what waited for it goes on", async () => {
  await create(late);
  await inLate.apply(manifest("TCPEdge", "first", {}));
  await world.until("its object is Ready", () => isReadyLate("TCPEdge", "first"), 90);
  await world.gone("IPPolicy", "office");
  await world.ready("IPPolicy", "theirs");
  await world.until("all is read", async () => (await readyz()).endsWith("ok\n"), 90);
  expect(await connected(late)).toBe(1);
  expect(control().objects("edges/tcp")).toHaveLength(2);
});

test("it goes on when the namespace is deleted and made again", async () => {
  await inLate.delete("TCPEdge", "first");
  await world.cluster.kubectlRun(["delete", "namespace", late]);
  await create(late);
  await inLate.apply(manifest("TCPEdge", "second", {}));
  await world.until("its object is Ready", () => isReadyLate("TCPEdge", "second"), 90);
  await world.ready("TCPEdge", "db");
  expect(control().objects("edges/tcp")).toHaveLength(2);
});
