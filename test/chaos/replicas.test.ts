import { afterAll, beforeAll, expect, test } from "vitest";
import { concurrently } from "../../tools/bench/phases/concurrently.ts";
import { type KubeJSON, manifest } from "../../tools/shared/objects.ts";
import type { Members } from "../../tools/simulator/shape/members.ts";
import { Replica } from "../support/replica.ts";
import { useWorld } from "../support/world.ts";

const LEASE = "tunnel-gateway-operator";

/** After a leader was lost another one leads within this, also on a busy machine: the lease lasts 15 seconds. */
const TAKEOVER_MS = 30_000;

/** Less than a lease that was not released would last on. */
const HANDOVER_MS = 14_000;

const world = useWorld({ process: true, startOperator: false, simulator: { latencyMs: 20 } });

const replicas: Replica[] = [];
// A first start waits for answers of other installations, which is no part of the stories.
beforeAll(async () => {
  await (await launch()).operator.started();
});
afterAll(() => Promise.all(replicas.map((replica) => replica.close())));

async function launch(): Promise<Replica> {
  const replica = await Replica.launch(world);
  replicas.push(replica);
  return replica;
}

const known: KubeJSON[] = [];

function backends(wave: string, count: number): KubeJSON[] {
  const objects = Array.from({ length: count }, (_, index) => {
    const description = `${wave}-${index}`;
    return manifest("TunnelGroupBackend", description, { description, labels: { wave } });
  });
  known.push(...objects);
  return objects;
}

const rows = (): Members[] => world.simulator.control.objects("backends/tunnel_group");
const made = (): number => world.simulator.control.requests({ method: "POST", status: 201 }).length;

const holder = async (): Promise<string | undefined> =>
  JSON.parse((await world.kubectl("get", "lease", LEASE, "-o", "json")).stdout).spec.holderIdentity;

/** Begins to make objects, and returns when some of them have been made in the account. */
async function inTheMiddleOf(objects: readonly KubeJSON[]): Promise<{ applied: Promise<void> }> {
  const before = made();
  const applied = concurrently(objects, 16, (object) => world.kube.apply(object));
  await Promise.race([applied, world.until("creates are under way", async () => made() >= before + 20)]);
  return { applied };
}

/** How long it takes, in milliseconds, until this one leads. */
async function takeover(by: Replica): Promise<number> {
  const began = performance.now();
  await by.operator.started();
  return performance.now() - began;
}

/** Every object has one remote, and every remote an object; each was made once. */
async function expectOneToOne(): Promise<void> {
  const now = await world.until("all are Ready", () => world.allReady(known).catch(() => undefined));
  const ids = (of: readonly KubeJSON[]) => of.map(({ id }) => id).sort();
  expect(ids(rows())).toEqual(ids(now.map(({ status }) => status)));
  expect(made()).toBe(known.length);
}

test("the leader is killed in the middle of creates whose answers are cut", async () => {
  const leader = replicas.at(-1) as Replica;
  const standby = await launch();
  await world.until("the standby has its caches", () => standby.isReady());
  const cut = { method: "POST", probability: 0.1, times: Number.POSITIVE_INFINITY, action: { cut: "after" } } as const;
  world.simulator.control.fault(cut);

  const { applied } = await inTheMiddleOf(backends("killed", 500));
  expect([await leader.leads(), await standby.leads(), standby.sent]).toEqual([true, false, 0]);
  await leader.operator.stop("SIGKILL");
  expect(await takeover(standby)).toBeLessThan(TAKEOVER_MS);
  await applied;
  await expectOneToOne();
  world.simulator.control.clearFaults();
});

test("a leader that was suspended for longer than its lease sends no more requests, and exits", async () => {
  const leader = replicas.at(-1) as Replica;
  const standby = await launch();
  await world.until("the standby has its caches", () => standby.isReady());
  const { applied } = await inTheMiddleOf(backends("suspended", 200));
  leader.operator.signal("SIGSTOP");
  expect(await takeover(standby)).toBeLessThan(TAKEOVER_MS);
  const { sent } = leader;

  leader.operator.signal("SIGCONT");
  expect(await leader.operator.exited()).toBe(1);
  // The signal may come between the check of the lease and the write to the socket: then that one request goes out.
  expect(leader.sent).toBeLessThanOrEqual(sent + 1);
  await applied;
  await expectOneToOne();
});

test("a leader that gets SIGTERM hands over at once", async () => {
  const leader = replicas.at(-1) as Replica;
  const standby = await launch();
  await world.until("the standby has its caches", () => standby.isReady());
  const before = await holder();
  const { applied } = await inTheMiddleOf(backends("stopped", 100));
  expect(await leader.operator.stop("SIGTERM")).toBe(0);
  expect(await holder()).not.toBe(before);
  expect(await takeover(standby)).toBeLessThan(HANDOVER_MS);
  await applied;
  await expectOneToOne();
});
