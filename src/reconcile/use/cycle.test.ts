import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { FailoverBackend } from "../../kinds/failover-backend.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import { WeightedBackend } from "../../kinds/weighted-backend.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { annotations } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import { emptyRemote } from "../apply/empty-remote.ts";
import { reconcile } from "../reconcile.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const isThere = (kind: Kind, id: string): boolean => scene.gateway.remote(kind.resource, id) !== undefined;

const refusal = (status: number, serviceMessage: string): GatewayError =>
  new GatewayError({ kind: "refused", status, method: "?", route: "/", problem: "planned", serviceMessage });

describe("backends that refer to each other", () => {
  let split: ManagedObject;
  let spare: ManagedObject;

  const splitSpec = { backends: [{ backendRef: { kind: "FailoverBackend", name: "spare" }, weight: 1 }] };

  beforeEach(async () => {
    spare = await scene.given(FailoverBackend, "spare", { backendRefs: [] });
    split = await scene.given(WeightedBackend, "split", splitSpec);
    await scene.apply(FailoverBackend, "spare", { backendRefs: [{ kind: "WeightedBackend", name: "split" }] });
    scene.resetCounts();
  });

  const updates = (): string[] =>
    scene.gateway.calls.splice(0).flatMap(({ verb, id = "" }) => (verb === "update" ? [id] : []));

  it.each([false, true])(
    "are emptied and deleted when both are being deleted (by another process: %s)",
    async (restart) => {
      scene.cluster.delete(split);
      await scene.delete(spare);
      if (restart) scene.restart();
      for (let round = 0; round < 3; round += 1) {
        for (const object of [split, spare]) if (scene.cluster.exists(object)) await scene.settle(object, 2);
      }
      expect([scene.cluster.exists(split), scene.cluster.exists(spare)]).toEqual([false, false]);
      expect(scene.gateway.remotesOf(WeightedBackend.resource)).toEqual([]);
      expect(scene.gateway.remotesOf(FailoverBackend.resource)).toEqual([]);
    },
  );

  it.each<[string, () => unknown]>([
    ["one of them stays", () => {}],
    [
      "one of them is retained",
      () =>
        scene.cluster.apply(FailoverBackend, "spare", { ...scene.cluster.now(spare).spec, deletionPolicy: "Retain" }),
    ],
    ["one of them is paused", () => scene.cluster.annotateByHand(spare, annotations.paused, "true")],
    ["the kind of one of them is being deleted", () => scene.cluster.kindsDeleting.add("FailoverBackend")],
    [
      "a person's edge uses one of them",
      () => scene.gateway.seed(TCPEdge.resource, { backend: { enabled: true, backend_id: scene.idOf(spare) } }),
    ],
    [
      "the edge of another namespace uses one of them",
      () =>
        scene.reconcile(
          scene.cluster.apply(
            TCPEdge,
            "db",
            { backend: { enabled: true, backendRef: { id: scene.idOf(split) } } },
            { namespace: "team-b" },
          ),
        ),
    ],
  ])("are not emptied while %s", async (title, prepare) => {
    await prepare();
    if (title !== "one of them stays") scene.cluster.delete(spare);
    scene.cluster.delete(split);
    scene.resetCounts();
    for (let round = 0; round < 3; round += 1) {
      await scene.reconcile(split);
      await scene.clock.advance(60_000);
    }
    expect(updates()).toEqual([]);
    expect(isThere(WeightedBackend, scene.idOf(split))).toBe(true);
  });

  it("are emptied, and not a backend that one of them uses", async () => {
    await scene.given(TunnelGroupBackend, "group", { labels: { app: "db" } });
    const last = await scene.given(FailoverBackend, "last", {
      backendRefs: [{ kind: "TunnelGroupBackend", name: "group" }],
    });
    const toLast = { backendRef: { kind: "FailoverBackend", name: "last" }, weight: 1 };
    await scene.apply(WeightedBackend, "split", { backends: [...splitSpec.backends, toLast] });
    for (const object of [last, spare, split]) scene.cluster.delete(object);
    scene.resetCounts();
    await scene.reconcile(last);
    expect(updates()).toEqual([]);
    expect(isThere(FailoverBackend, scene.idOf(last))).toBe(true);
    for (const object of [split, spare, split, last]) if (scene.cluster.exists(object)) await scene.settle(object, 3);
    expect([last, spare, split].filter((object) => scene.cluster.exists(object))).toEqual([]);
  });

  it("wait for an edge that is being deleted with them, and keep serving it", async () => {
    const edge = await scene.given(TCPEdge, "db", {
      backend: { enabled: true, backendRef: { kind: "WeightedBackend", name: "split" } },
    });
    for (const object of [edge, spare, split]) scene.cluster.delete(object);
    await scene.reconcile(split);
    await scene.reconcile(spare);
    expect(updates()).toEqual([]);
    await scene.reconcile(edge);
    for (const object of [split, spare, split]) if (scene.cluster.exists(object)) await scene.settle(object, 2);
    expect(scene.gateway.remotesOf(WeightedBackend.resource)).toEqual([]);
    expect(scene.gateway.remotesOf(FailoverBackend.resource)).toEqual([]);
  });

  it("are emptied, also when one of them is in a second circle", async () => {
    const more = await scene.given(WeightedBackend, "more", splitSpec);
    const backendRefs = ["split", "more"].map((name) => ({ kind: "WeightedBackend", name }));
    await scene.apply(FailoverBackend, "spare", { backendRefs });
    updates();
    for (const object of [split, spare, more]) scene.cluster.delete(object);
    const context = scene.contextFor(split);
    await reconcile(context, { resyncSeconds: 300 });
    expect(updates()).toEqual([scene.idOf(split)]);
    expect(context.changes).toContainEqual(
      expect.objectContaining({ type: "Updated", fields: ["backends"], drifted: false }),
    );
  });

  it("are not emptied while a third one stays that is in a circle with one of them", async () => {
    await scene.given(WeightedBackend, "more", splitSpec);
    const backendRefs = ["split", "more"].map((name) => ({ kind: "WeightedBackend", name }));
    await scene.apply(FailoverBackend, "spare", { backendRefs });
    for (const object of [split, spare]) scene.cluster.delete(object);
    scene.resetCounts();
    await scene.reconcile(split);
    expect(scene.reason(split)).toMatch(/^Deleting: .*FailoverBackend "spare"/);
    expect(updates()).toEqual([]);
  });

  it.each([
    ["is known to be gone", true],
    ["is found to be gone", false],
  ])("need no update of one that %s", async (_, isKnown) => {
    const id = scene.idOf(split);
    scene.gateway.drop(WeightedBackend.resource, id);
    if (isKnown) await scene.resync(WeightedBackend);
    const context = scene.contextFor(split);
    await emptyRemote(context, id);
    expect(context.changes).toEqual([]);
  });

  it("report a missing permission to empty them", async () => {
    scene.gateway.beforeCall = ({ verb }) => {
      if (verb === "update") throw refusal(403, "not with this key");
    };
    for (const object of [split, spare]) scene.cluster.delete(object);
    await scene.reconcile(split);
    expect(scene.reason(split)).toMatch(/^Forbidden: /);
    expect(scene.cluster.exists(split)).toBe(true);
  });

  it("are left where the service does not let them be emptied and the namespace goes away", async () => {
    scene.cluster.namespaceDeleting = true;
    scene.gateway.beforeCall = ({ verb }) => {
      if (verb === "update") throw refusal(400, "a backend is required");
    };
    for (const object of [split, spare]) scene.cluster.delete(object);
    await scene.reconcile(split);
    expect(scene.reason(split)).toMatch(/^InUse: .*a backend is required/);
    await scene.clock.advance(121_000);
    for (const object of [split, spare]) await scene.reconcile(object);
    expect([scene.cluster.exists(split), scene.cluster.exists(spare)]).toEqual([false, false]);
    expect(scene.gateway.remotesOf(WeightedBackend.resource)).toHaveLength(1);
  });
});
