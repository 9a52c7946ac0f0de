import { afterAll, beforeAll, expect, test } from "vitest";
import { annotations, FINALIZER } from "../../../src/schema/contract.ts";
import { type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { ClusterGate } from "../../support/gate.ts";
import { useWorld } from "../../support/world.ts";

const EACH = 12;
// one is enough nearly always; more only on a machine that is busy with other work
const ROUNDS = 30;

const world = useWorld({ startOperator: false, env: { REQUESTS_PER_MINUTE: "0", MAX_DELETES_PER_MINUTE: "0" } });
let gate: ClusterGate;

const sorts = {
  mark: (name: string) => manifest("IPPolicy", name, { description: name }),
  "natural key": (name: string) =>
    manifest("ReservedDomain", name, { domain: `${name}.example.org`, metadata: "text" }),
  "its values": (name: string) => manifest("TunnelGroupBackend", name, { labels: { name }, metadata: "text" }),
  secret: (name: string) => manifest("APIKey", name, { description: name, tokenSecretName: name }),
};
const objectsOf = (round: number): KubeJSON[] =>
  Object.entries(sorts).flatMap(([sort, of]) =>
    Array.from({ length: EACH }, (_, index) => of(`${sort.replaceAll(" ", "-")}-${round}-${index}`)),
  );
let objects: readonly KubeJSON[] = [];
const collections = ["ip_policies", "reserved_domains", "backends/tunnel_group", "api_keys"];

beforeAll(async () => {
  gate = await ClusterGate.beforeCluster(world.cluster.kubeconfig);
  gate.guard = ({ method, path, body }, side) => {
    const object = objects.find(({ metadata: { name } }) => new URL(path, gate.url).pathname.endsWith(`/${name}`));
    const isFinalized = method === "PATCH" && body.includes(FINALIZER) && body.includes(annotations.createIntent);
    // Both requests reach the API server at the same time.
    if (side === "before" && isFinalized && object)
      void world.kube.delete(object.kind, object.metadata.name).catch(() => {});
    return undefined;
  };
});

afterAll(() => gate.close());

const remotes = () => collections.flatMap((name) => world.simulator.control.objects(name));
const lost = () => world.operator.lines.filter((line) => line.includes("Kubernetes deleted the object while")).length;

// A DELETE that has read an object without finalizers deletes it, even if it gets one in between. Of some fifty objects a
// few end like that, now and then none.
test("an object that is deleted while it gets its finalizer leaves no remote", async () => {
  await world.startOperator({}, { kubeconfig: gate.kubeconfig });
  for (let round = 0; lost() === 0 && round < ROUNDS; round += 1) {
    objects = objectsOf(round);
    await world.kube.apply(...objects);
    await world.until("all objects are gone", async () => (await world.kube.custom()).length === 0);
  }
  await world.until("all remotes are gone", async () => remotes().length === 0);
  await world.quiet();
  expect(remotes()).toEqual([]);
  expect(world.simulator.control.requests({ method: "POST", status: 201 }).length).toBeGreaterThan(0);
  expect(lost()).toBeGreaterThan(0);
});

// Both have the same owner mark, so the deletion for the first must not take what the second has found or made.
test("the next object of the same name keeps its remote, also when the deletion of the first takes effect late", async () => {
  const { control } = world.simulator;
  control.fault({ method: "DELETE", times: 30, action: { status: 503, body: { msg: "down for a moment" } } });
  objects = objectsOf(ROUNDS);
  await world.kube.apply(...objects);
  await world.until("all objects are gone", async () => (await world.kube.custom()).length === 0);
  const again = objects;
  objects = [];
  await world.kube.apply(...again);
  const ready = await world.until("all are Ready", () => world.allReady(again).catch(() => undefined), 90);
  control.clearFaults();
  await world.until("one remote of each is left", async () => remotes().length === again.length);
  await world.quiet();
  const ids = (of: readonly KubeJSON[]) => of.map(({ id }) => id).sort();
  expect(ids(remotes())).toEqual(ids(ready.map(({ status }) => status)));
});
