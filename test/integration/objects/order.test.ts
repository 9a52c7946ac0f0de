import { beforeAll, expect, test } from "vitest";
import { annotations } from "../../../src/schema/contract.ts";
import { examples } from "../../../tools/shared/examples.ts";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { isOurs } from "../../support/kube.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld();

let objects: KubeJSON[] = [];

/** Of a route, only the modules are created and deleted. */
const isRoute = ({ kind }: KubeJSON): boolean => kind === "HTTPSEdgeRoute";
const modulesOf = ({ status }: KubeJSON): string[] =>
  status.appliedFields.filter((field: string) => !/[./]|Id$/.test(field));

beforeAll(async () => {
  objects = await examples();
});

test("objects that are applied before what they refer to become Ready", async () => {
  for (const object of objects.toReversed()) await world.kube.apply(object);
  await world.allReady(objects);
  const creates = world.changesSent().filter(({ method }) => method === "POST");
  expect(creates).toHaveLength(objects.filter(isOurs).filter((object) => !isRoute(object)).length);
});

test("objects that wait for each other in a cycle say so, and go on when it is opened", async () => {
  const refs = (...names: string[]) => ({ backendRefs: names.map((name) => ({ kind: "FailoverBackend", name })) });
  const names = ["cycle-a", "cycle-b", "cycle-c"];
  for (const [index, name] of names.entries())
    await world.kube.apply(manifest("FailoverBackend", name, refs(names[(index + 1) % 3] as string)));
  const stuck = { type: "Stalled", status: "True", reason: "ReferenceCycle" };
  for (const name of names) {
    const object = await world.condition("FailoverBackend", name, stuck);
    for (const other of names) expect(conditionOf(object, "Ready")?.message).toContain(`FailoverBackend ${other}`);
  }
  await world.kube.apply(manifest("FailoverBackend", "cycle-c", refs()));
  for (const name of names) await world.ready("FailoverBackend", name);
  await world.kube.apply(manifest("FailoverBackend", "cycle-c", refs("cycle-a")));
  await world.ready("FailoverBackend", "cycle-c");
  for (const name of names) await world.kube.delete("FailoverBackend", name);
  for (const name of names) await world.gone("FailoverBackend", name);
});

test("what is still referred to waits, and its referrer keeps it", async () => {
  const refs = { ipRestriction: { ipPolicyRefs: [{ name: "guard" }] } };
  await world.kube.apply(manifest("IPPolicy", "guard", {}), manifest("TCPEdge", "guarded", refs));
  const { status: guard } = await world.ready("IPPolicy", "guard");
  const { status: guarded } = await world.ready("TCPEdge", "guarded");
  const restriction = { enabled: true, ip_policies: [expect.objectContaining({ id: guard.id })] };

  await world.kube.delete("IPPolicy", "guard");
  const waiting = await world.condition("IPPolicy", "guard", { type: "Ready", status: "False", reason: "InUse" });
  expect(conditionOf(waiting, "Ready")?.message).toContain('TCPEdge "guarded"');
  await world.kube.annotate("TCPEdge", "guarded", { [annotations.reconcileRequestedAt]: "now" });
  await world.quiet();
  expect(world.simulator.control.get(guarded.id)).toMatchObject({ ip_restriction: restriction });
  expect(world.simulator.control.get(guard.id)).not.toBeNull();
  expect(conditionOf(await world.get("TCPEdge", "guarded"), "Ready")?.status).toBe("True");

  await world.kube.delete("TCPEdge", "guarded");
  await world.gone("IPPolicy", "guard");
  await world.gone("TCPEdge", "guarded");
  const ends = world.changesSent().filter(({ path }) => path.endsWith(guard.id) || path.endsWith(guarded.id));
  expect(ends.map(({ method, path }) => [method, path.split("/").at(-1)])).toEqual([
    ["DELETE", guarded.id],
    ["DELETE", guard.id],
  ]);
});

test("what is not referred to any more goes at once", async () => {
  const refs = (name: string) => ({ ipRestriction: { ipPolicyRefs: [{ name }] } });
  await world.kube.apply(manifest("IPPolicy", "old", {}), manifest("IPPolicy", "new", {}));
  await world.kube.apply(manifest("TCPEdge", "moving", refs("old")));
  await world.ready("TCPEdge", "moving");
  await world.kube.delete("IPPolicy", "old");
  await world.condition("IPPolicy", "old", { type: "Ready", status: "False", reason: "InUse" });
  await world.kube.apply(manifest("TCPEdge", "moving", refs("new")));
  await world.gone("IPPolicy", "old");
  await world.ready("TCPEdge", "moving");
});

test("a namespace goes with everything in it, and leaves nothing in the account", async () => {
  const before = world.changesSent().length;
  const all = await world.kube.all();
  const count = all.filter((object) => !isRoute(object)).length + all.filter(isRoute).flatMap(modulesOf).length;
  await world.cluster.kubectlRun(["delete", "namespace", world.namespace, "--wait=false"]);
  await world.until("nothing is left", async () => (await world.kube.all()).length === 0);
  expect(world.simulator.control.accountIsEmpty()).toBe(true);
  const sent = world.changesSent().slice(before);
  expect(sent.filter(({ status }) => status === 204)).toHaveLength(count);
  // an object waits for its referrers before it sends a delete, so the service refuses none
  expect(sent).toHaveLength(count);
});
