import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RIGHTS_FINALIZER } from "../../src/schema/contract.ts";
import { isReady, type KubeJSON, manifest } from "../../tools/shared/objects.ts";
import { Installation, type Release, until } from "./support/installation.ts";
import type { Pod } from "./support/pod.ts";

const NAMESPACE = "operator";
const [WATCHED, OTHER] = ["watched", "other"];
/** Namespaces that are deleted, with the operator at work and without one. */
const [GOING, STUCK] = ["going", "stuck"];
const BINDING = "gateway-tunnel-gateway-operator-deletion";

let world: Installation;
let release: Release;
let operator: Pod;

beforeAll(async () => {
  world = await Installation.start();
  for (const name of [WATCHED, OTHER, GOING, STUCK]) await world.kubectl("create", "namespace", name);
  release = world.release("gateway", NAMESPACE);
  await release.install({
    "watchNamespaces[0]": WATCHED,
    "watchNamespaces[1]": GOING,
    "watchNamespaces[2]": STUCK,
    "credentials.apiKey": world.simulator.apiKey,
    "gateway.sessionSyncInterval": "1s",
  });
  operator = await release.operator();
});
afterAll(async () => {
  await operator?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

test("no right is given in the whole cluster, and the ClusterRole that is bound in namespaces has what their Role has", async () => {
  const ours = ["-l", "app.kubernetes.io/instance=gateway"];
  expect(await world.kubectl("get", "clusterrolebindings", ...ours, "-o", "name")).toBe("");
  const { items } = await world.get("clusterroles", ...ours);
  expect(items.map(({ metadata }: KubeJSON) => metadata.name)).toEqual([`${NAMESPACE}-${BINDING}`]);
  const role = await world.get("role", "gateway-tunnel-gateway-operator", "-n", WATCHED);
  expect(items[0].rules).toEqual(role.rules);
});

const finalizersOf = async (namespace: string): Promise<string[]> =>
  (await world.get("rolebinding", BINDING, "-n", namespace)).metadata.finalizers ?? [];

test("the RoleBinding that outlives its namespace is kept while there are objects, and no longer", async () => {
  await world.apply(WATCHED, manifest("ReservedAddress", "passing", {}));
  await until("it is Ready", async () => (await world.objects(WATCHED)).every(isReady));
  expect(await finalizersOf(WATCHED)).toEqual([RIGHTS_FINALIZER]);
  await world.kubectl("delete", "reservedaddress", "passing", "-n", WATCHED, "--timeout=20s");
  await until("it is let go of", async () => (await finalizersOf(WATCHED)).length === 0, 20);
});

test("objects of its namespaces are looked after, and those of others are left alone", async () => {
  const address = manifest("ReservedAddress", "first", { region: "eu" });
  await world.apply(OTHER, address);
  await world.apply(WATCHED, address);
  await until("it is Ready", async () => (await world.objects(WATCHED)).every(isReady));
  expect(await world.objects(OTHER)).toMatchObject([{ status: { observedGeneration: -1 } }]);
  expect(world.simulator.control.objects("reserved_addrs")).toHaveLength(1);
});

test("sessions are mirrored, and commanded, in its own namespace", async () => {
  world.simulator.control.addSession();
  const sessions = async () => (await world.get("tunnelsessions", "-n", NAMESPACE)).items;
  await until("the session is there", async () => (await sessions()).length === 1, 60);
  const [session] = await sessions();
  await world.apply(
    NAMESPACE,
    manifest("AgentCommand", "stop", { command: "Stop", sessionRef: { name: session.metadata.name } }),
  );
  await until("the command has run", async () => (await world.objects(NAMESPACE)).some(isReady));
});

test("doctor finds nothing to say", async () => {
  await using doctor = await release.doctor();
  expect({ code: await doctor.ended(), output: doctor.output }).toEqual({ code: 0, output: expect.any(String) });
});

test("the mark in the account names the operator's namespace, whose uid it may read", async () => {
  const { uid } = (await world.get("namespace", NAMESPACE)).metadata;
  const [address] = world.simulator.control.objects("reserved_addrs");
  expect(address?.["metadata"]).toContain(`${uid}/${WATCHED}/first`);
});

test("deletions work as well; only definitions it may not see", async () => {
  await world.kubectl("delete", "reservedaddress", "first", "-n", WATCHED, "--timeout=20s");
  expect(world.simulator.control.objects("reserved_addrs")).toEqual([]);
  const denied = world.proxy.requests.filter(({ status }) => status === 403);
  expect(
    denied.filter(({ path }) => !path.startsWith("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/")),
  ).toEqual([]);
});

test("objects that go with their definition leave their remotes, since discovery shows that it goes", async () => {
  await world.apply(WATCHED, manifest("IPPolicy", "kept", {}));
  await until("it is Ready", async () => (await world.objects(WATCHED)).every(isReady));
  const name = "ippolicies.tunnelgateway.dev";
  const { apiVersion, kind, metadata, spec } = await world.get("crd", name);
  await world.kubectl("delete", "crd", name, "--timeout=30s");
  expect(world.simulator.control.objects("ip_policies")).toHaveLength(1);
  expect(world.simulator.control.requests({ method: "DELETE" }).filter(({ path }) => path.includes("ipp_"))).toEqual(
    [],
  );
  const { labels, annotations } = metadata;
  await world.apply(undefined, { apiVersion, kind, metadata: { name, labels, annotations }, spec });
});

test("the hook releases its namespaces alone", async () => {
  await world.apply(WATCHED, manifest("ReservedAddress", "second", { region: "eu" }));
  await until("it is Ready", async () => (await world.objects(WATCHED)).every(isReady));
  await using job = await release.uninstallJob();
  const scaled = async () => (await world.get("deployments", "-n", NAMESPACE)).items[0].spec.replicas === 0;
  await until("the operator is told to stop", scaled);
  await operator.stop();
  expect({ code: await job.ended(), output: job.output }).toMatchObject({ code: 0 });
  // it may look for copies of the Lease
  expect(job.output).not.toContain("forbidden");
  expect(await world.kubectl("get", "leases", "-n", WATCHED, "-o", "name")).toBe("");
  const [{ metadata }] = await world.objects(WATCHED);
  expect(metadata.finalizers ?? []).toEqual([]);
  expect(await finalizersOf(WATCHED)).toEqual([]);
  expect(world.simulator.control.objects("reserved_addrs")).toHaveLength(1);
});

// Last: what waits for a namespace that is gone would not be ready in the other tests.
describe("a namespace that is deleted with objects in it", () => {
  const objects = [
    manifest("IPPolicy", "office", {}),
    manifest("TCPEdge", "ssh", { ipRestriction: { ipPolicyRefs: [{ name: "office" }] } }),
    manifest("ReservedAddress", "ssh", {}),
  ];
  let before: Record<string, number>;
  const fill = async (namespace: string) => {
    await world.apply(namespace, ...objects);
    await until("all are Ready", async () => (await world.objects(namespace)).every(isReady));
    expect(await finalizersOf(namespace)).toEqual([RIGHTS_FINALIZER]);
  };
  const isGone = (namespace: string) => async () =>
    (await world.kubectl("get", "namespace", namespace, "--ignore-not-found", "-o", "name")) === "";

  beforeAll(async () => {
    before = world.simulator.control.summary();
    operator = await release.operator();
  });

  test("waits for an operator that is not running, and ends when it runs again", async () => {
    await fill(STUCK);
    await operator.stop();
    await world.kubectl("delete", "namespace", STUCK, "--wait=false");
    const roles = async () => world.kubectl("get", "roles", "-n", STUCK, "-o", "name");
    await until("its Role is gone", async () => (await roles()) === "", 60);
    expect(await world.objects(STUCK)).toHaveLength(objects.length);
    operator = await release.operator();
    await until("the namespace is gone", isGone(STUCK), 90);
    expect(world.simulator.control.summary()).toEqual(before);
  });

  test("ends, and with it what its objects stand for, although its Role goes first", async () => {
    await fill(GOING);
    await world.kubectl("delete", "namespace", GOING, "--wait=false");
    await until("the namespace is gone", isGone(GOING), 90);
    expect(world.simulator.control.summary()).toEqual(before);
  });
});
