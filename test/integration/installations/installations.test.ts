import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { isReady, manifest } from "../../../tools/shared/objects.ts";
import { command } from "../../support/command.ts";
import { Kube } from "../../support/kube.ts";
import { OperatorProcess } from "../../support/operator-process.ts";
import { useWorld } from "../../support/world.ts";

/** Installations with listed namespaces, of which each may read in these and in its own only. */
const world = useWorld({ startOperator: false });
/** Makes their waits shorter, and leaves a busy machine the time to renew a Lease. */
const RATE = 4;

/** The namespace that they have in common is that of the world. */
let west: Kube;
let east: Kube;
const homes: string[] = [];
let running: OperatorProcess[] = [];

beforeAll(async () => {
  west = new Kube(world.cluster.kubeconfig, await world.cluster.freshNamespace("west"));
  east = new Kube(world.cluster.kubeconfig, await world.cluster.freshNamespace("east"));
  for (const name of ["first", "second", "third"]) homes.push(await world.cluster.freshNamespace(name));
});
afterEach(async () => {
  await Promise.all(running.map((operator) => operator.stop()));
  running = [];
});
afterAll(async () => {
  for (const kube of [west, east]) {
    for (const { kind, metadata } of await kube.custom())
      await kube.patch(kind, metadata.name, { metadata: { finalizers: null } }).catch(() => undefined);
    await kube.close();
  }
});

/** Each has a name in owner marks of its own, as with the uid of its namespace. */
async function install(
  index: number,
  namespaces: string[],
  env: Record<string, string> = {},
): Promise<OperatorProcess> {
  const home = homes[index] as string;
  const operator = new OperatorProcess({
    kubeconfig: world.cluster.kubeconfig,
    gateway: world.simulator,
    namespaces,
    clock: { rate: RATE },
    env: { LEADER_ELECTION: "true", POD_NAMESPACE: home, CLUSTER_ID: home, ...env },
  });
  running.push(operator);
  await operator.url();
  return operator;
}

const waits = (operator: OperatorProcess, index: number) =>
  world.until("it waits", async () => {
    const isWaiting = (await operator.metric("tunnelgateway_installation_waiting")) === 1;
    return isWaiting && (await operator.read("/readyz")).includes(`namespace ${homes[index]} has the same objects`);
  });

const leases = async (namespace: string) =>
  (await world.cluster.kubectlRun(["get", "leases", "-o", "name", "-n", namespace])).stdout.trim();

let made = 0;
/** Applies one object in each namespace and resolves when they are Ready. Fails if one has another number of remotes. */
async function expectOneEach(...kubes: Kube[]): Promise<void> {
  made += 1;
  const name = `policy-${made}`;
  const before = world.simulator.control.objects("ip_policies").length;
  await Promise.all(kubes.map((kube) => kube.apply(manifest("IPPolicy", name, { description: name }))));
  await world.until("they are Ready", async () => {
    const objects = await Promise.all(kubes.map((kube) => kube.get("IPPolicy", name)));
    return objects.every((object) => object && isReady(object));
  });
  // Another installation that works would make one as soon as it sees the object.
  await sleep(500);
  const posts = world
    .changesSent()
    .filter(({ path, body }) => path === "/ip_policies" && JSON.stringify(body).includes(`"${name}"`));
  expect(posts).toHaveLength(kubes.length);
  expect(world.simulator.control.objects("ip_policies")).toHaveLength(before + kubes.length);
}

test("two that have a namespace in common: the later one waits, says for whom, and goes on when the first ends", async () => {
  const [shared, ofWest, ofEast] = [world.namespace, west.namespace, east.namespace];
  const first = await install(0, [ofWest, shared]);
  await first.started();
  const second = await install(1, [ofEast, shared]);
  await waits(second, 0);
  await expectOneEach(west, world.kube);

  const settings = {
    WATCH_NAMESPACES: [ofEast, shared].join(","),
    POD_NAMESPACE: `${homes[1]}`,
    LEADER_ELECTION: "true",
  };
  const { stdout, code } = await command(world, ["doctor"], { ...settings, INSTALLATION: "default" });
  expect([code, stdout]).toEqual([1, expect.stringContaining(`namespace ${homes[0]} has the same objects`)]);

  expect(await leases(shared)).toContain(`tunnel-gateway-operator.${homes[0]}`);
  expect(await first.stop()).toBe(0);
  expect(await leases(shared)).not.toContain(homes[0]);
  await second.started();
  await expectOneEach(east, world.kube);
});

test("two that start at the same time: one of them works", async () => {
  const both = await Promise.all([install(0, [west.namespace, world.namespace]), install(1, [world.namespace])]);
  const isWorking = async () =>
    Promise.all(both.map((operator) => operator.lines.some((line) => line.includes('"msg":"Started"'))));
  await world.until("one works", async () => (await isWorking()).some(Boolean));
  const [firstWorks] = await isWorking();
  await waits(both[firstWorks ? 1 : 0] as OperatorProcess, firstWorks ? 0 : 1);
  await expectOneEach(world.kube);
  expect((await isWorking()).filter(Boolean)).toHaveLength(1);
});

test("three: those that have nothing in common work side by side, and one that has objects of both waits", async () => {
  const [first, second] = await Promise.all([install(0, [west.namespace]), install(1, [east.namespace])]);
  await Promise.all([first.started(), second.started()]);
  const third = await install(2, [west.namespace, east.namespace]);
  await world.until("it waits", async () => (await third.metric("tunnelgateway_installation_waiting")) === 1);
  await expectOneEach(west, east);
  await first.stop();
  await waits(third, 1);
  await second.stop();
  await third.started();
  await expectOneEach(west, east);
});

test("selectors that select no common object let both work", async () => {
  const first = await install(0, [world.namespace], { WATCH_SELECTOR: "part=first" });
  const second = await install(1, [world.namespace], { WATCH_SELECTOR: "part=second" });
  await Promise.all([first.started(), second.started()]);
});

test("the role edit of Kubernetes lets people write Leases, as the page on security says", async () => {
  const { stdout } = await world.cluster.kubectlRun(["get", "clusterrole", "system:aggregate-to-edit", "-o", "json"]);
  const rules: { apiGroups?: string[]; resources?: string[]; verbs: string[] }[] = JSON.parse(stdout).rules;
  const verbs = rules.filter(({ resources }) => resources?.includes("leases")).flatMap((rule) => rule.verbs);
  expect(verbs).toEqual(expect.arrayContaining(["create", "update", "delete"]));
});
