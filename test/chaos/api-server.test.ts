import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Cluster } from "../../tools/cluster/cluster.ts";
import { installKinds } from "../../tools/cluster/install-kinds.ts";
import { startCluster } from "../../tools/cluster/start.ts";
import { type KubeJSON, manifest } from "../../tools/shared/objects.ts";
import { randomFrom } from "../../tools/shared/random.ts";
import type { Members } from "../../tools/simulator/shape/members.ts";
import { seed } from "../fakes/runtime/seed.ts";
import { Link, type LinkedKubeconfig, linkedKubeconfig } from "../support/link.ts";
import { OperatorProcess } from "../support/operator-process.ts";
import { World } from "../support/world.ts";
import { DISRUPTION_ENV, DisruptionTest } from "./support/disruption.ts";

const COUNT = 40;

/** A cluster of its own: the others' API server must not be killed under them. */
let cluster: Cluster;
let world: World<OperatorProcess>;

beforeAll(async () => {
  cluster = await startCluster();
  await installKinds(cluster);
  const freshNamespace = async () => {
    const name = `world-${randomUUID().slice(0, 8)}`;
    await cluster.kubectlRun(["create", "namespace", name]);
    return name;
  };
  world = new World(
    { ...cluster, freshNamespace },
    { env: DISRUPTION_ENV, simulator: { latencyMs: 50 } },
    OperatorProcess,
  );
  await world.open();
});

afterAll(async () => {
  await world.close();
  await cluster.stop();
});

const backends = (wave: string): KubeJSON[] =>
  Array.from({ length: COUNT }, (_, index) => {
    const name = `${wave}-${index}`;
    return manifest("TunnelGroupBackend", name, { description: name, labels: { wave } });
  });

const rows = (): Members[] => world.simulator.control.objects("backends/tunnel_group");

/** Every object has one remote, and every remote an object; each was made once. */
async function expectOneToOne(objects: readonly KubeJSON[]): Promise<void> {
  const now = await world.until("all are Ready", () => world.allReady(objects).catch(() => undefined));
  expect(
    rows()
      .map(({ id }) => id)
      .sort(),
  ).toEqual(now.map(({ status }) => status.id).sort());
  expect(world.simulator.control.requests({ method: "POST", status: 201 })).toHaveLength(rows().length);
}

const ready = async (): Promise<boolean> => (await world.operator.read("/readyz")).trimEnd().endsWith("ok");

/** Takes the API server away in the middle of the creates of a wave, and waits until all is well again. */
async function survive(wave: string, away: () => Promise<unknown>): Promise<void> {
  const { control } = world.simulator;
  const before = control.count({ method: "POST" });
  const objects = backends(wave);
  const { pid } = world.operator;
  const applying = Promise.allSettled(objects.map((object) => world.kube.apply(object)));
  await world.until("creates are under way", async () => control.count({ method: "POST" }) > before);
  await away();
  await applying;
  await world.kube.apply(...objects);
  await expectOneToOne([...known, ...objects]);
  known.push(...objects);
  expect(await ready()).toBe(true);
  expect(world.operator.isRunning && world.operator.pid).toBe(pid);
}

/** What is there from the waves before. */
const known: KubeJSON[] = [];

test("the API server is killed and started again", ({ skip }) => {
  if (!cluster.stopAPIServer) skip("the control plane is not ours");
  return survive("killed", async () => {
    await cluster.stopAPIServer?.("SIGKILL");
    await sleep(2000);
    await cluster.startAPIServer?.();
  });
});

test("the API server is frozen with all connections open, and continues", ({ skip }) => {
  if (!cluster.stopAPIServer) skip("the control plane is not ours");
  return survive("frozen", async () => {
    await cluster.stopAPIServer?.("SIGSTOP");
    await sleep(4000);
    await cluster.startAPIServer?.();
  });
});

test("the API server is killed while the service is away as well", ({ skip }) => {
  if (!cluster.stopAPIServer) skip("the control plane is not ours");
  return survive("both", async () => {
    world.simulator.control.outage(true);
    await cluster.stopAPIServer?.("SIGKILL");
    await sleep(1000);
    world.simulator.control.outage(false);
    await sleep(1000);
    world.simulator.control.outage(true, "unavailable");
    await cluster.startAPIServer?.();
    await sleep(1000);
    world.simulator.control.outage(false);
  });
});

test("the API server is killed while objects are deleted", async ({ skip }) => {
  if (!cluster.stopAPIServer) skip("the control plane is not ours");
  const { control } = world.simulator;
  const deleting = Promise.allSettled(known.map(({ kind, metadata }) => world.kube.delete(kind, metadata.name)));
  await world.until("deletes are under way", async () => control.count({ method: "DELETE" }) > 0);
  await cluster.stopAPIServer?.("SIGKILL");
  await sleep(1000);
  await cluster.startAPIServer?.();
  await deleting;
  await Promise.allSettled(known.map(({ kind, metadata }) => world.kube.delete(kind, metadata.name)));
  await world.until("all are gone", async () => (await world.kube.all()).length === 0);
  expect(control.accountIsEmpty()).toBe(true);
});

describe.each([seed()])("another process, with CHAOS_SEED=%d", (chosen) => {
  let link: Link;
  let kubeconfig: LinkedKubeconfig;

  beforeAll(async () => {
    link = await Link.to(cluster.url);
    kubeconfig = await linkedKubeconfig(cluster.kubeconfig, link);
  });

  afterAll(() => Promise.all([link.close(), kubeconfig.remove()]));

  test("starts while the API server is away", async ({ skip }) => {
    if (!cluster.stopAPIServer) skip("the control plane is not ours");
    await world.operator.stop();
    await cluster.stopAPIServer?.("SIGKILL");
    const starting = world.startOperator({}, { kubeconfig: kubeconfig.path });
    await sleep(3_000);
    await cluster.startAPIServer?.();
    await starting;
    expect(await ready()).toBe(true);
  });

  test("lists again after etcd was compacted while its watches were cut", async ({ skip }) => {
    if (!cluster.compact) skip("the control plane is not ours");
    const disruption = new DisruptionTest(world, randomFrom(chosen));
    await disruption.begin();
    await disruption.survive(async () => {
      await sleep(1_000);
      link.startDropping();
      await sleep(1_000);
      await cluster.compact?.();
      // or it would still have what etcd has forgotten
      await cluster.stopAPIServer?.("SIGKILL");
      await cluster.startAPIServer?.();
      link.stopDropping();
    });
    const expired = world.operator.lines.filter((line) => line.includes("Listing again") && line.includes("too old"));
    expect(expired.length).toBeGreaterThan(5);
  });
});
