import { Registry } from "prom-client";
import { beforeEach, expect, it } from "vitest";
import { RESYNC_SECONDS, Scene } from "../../../test/fakes/reconcile/scene.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { reconcile } from "../../reconcile/reconcile.ts";
import { Store } from "../../runtime/cache/store.ts";
import type { Kind } from "../../schema/define.ts";
import type { Stores } from "../kubernetes/indexes.ts";
import { createDriftMetrics, type DriftMetrics } from "./drift-metrics.ts";
import { objectMetrics } from "./object-metrics.ts";

let scene: Scene;
let registry: Registry;
let metrics: DriftMetrics;
let counted: Stores;

beforeEach(() => {
  scene = new Scene();
  registry = new Registry();
  counted = new Map();
  metrics = createDriftMetrics([registry]);
  objectMetrics([registry], () => ({ counted }));
});

async function reconcileOnce(object: ManagedObject): Promise<void> {
  const context = scene.contextFor(object);
  await reconcile(context, { resyncSeconds: RESYNC_SECONDS });
  metrics.onChanges(context.kind.kind, context.changes);
}

/** The series of a metric, without its name. */
async function series(name: string): Promise<string[]> {
  const lines = (await registry.metrics()).split("\n");
  return lines.filter((line) => line.startsWith(`${name}{`)).map((line) => line.slice(name.length));
}

async function changed(kind: Kind, spec: ManagedObject["spec"], members: object): Promise<ManagedObject> {
  const object = await scene.given(kind, "one", spec);
  scene.gateway.change(kind.resource, scene.idOf(object), { ...members });
  await scene.resync(kind);
  return object;
}

it("counts each corrected field, and no edit", async () => {
  const spec = { description: "ours", labels: { a: "ours" } };
  const object = await changed(TunnelGroupBackend, spec, { description: "theirs", labels: { a: "secret" } });
  await reconcileOnce(object);
  await reconcileOnce(scene.cluster.apply(TunnelGroupBackend, "one", { ...spec, description: "new" }));
  expect(scene.gateway.takeCalls().filter((call) => call.startsWith("update"))).toHaveLength(2);
  expect((await series("tunnelgateway_drift_corrections_total")).sort()).toEqual([
    '{kind="TunnelGroupBackend",field="description"} 1',
    '{kind="TunnelGroupBackend",field="labels"} 1',
  ]);
});

it("counts a remote that was deleted and created again", async () => {
  const object = await scene.given(IPPolicy, "one");
  scene.gateway.drop(IPPolicy.resource, scene.idOf(object));
  await scene.resync(IPPolicy);
  await reconcileOnce(object);
  expect(await series("tunnelgateway_drift_corrections_total")).toEqual(['{kind="IPPolicy",field="id"} 1']);
});

it("counts the objects that differ and are not corrected, until they no longer differ", async () => {
  const object = await changed(
    IPPolicy,
    { description: "ours", driftPolicy: "Report" },
    { description: "theirs", metadata: "theirs" },
  );
  const store = new Store<ManagedObject>({});
  counted = new Map([[IPPolicy.kind, { store }]]);
  const drifted = async () => {
    await reconcileOnce(object);
    store.put(scene.cluster.now(object));
    return series("tunnelgateway_drifted_objects");
  };
  expect(await drifted()).toEqual(['{kind="IPPolicy",reason="RemoteDiffers",field="description"} 1']);
  scene.cluster.apply(IPPolicy, "one", { description: "ours" });
  expect(await drifted()).toEqual([]);
  expect(await series("tunnelgateway_drift_corrections_total")).toEqual([]);
});
