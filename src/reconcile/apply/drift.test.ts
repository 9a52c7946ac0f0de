import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import type { ManagedObject } from "../../objects/object.ts";

// What counts as a change by somebody else, and what is corrected once a correction did not last.

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const policies = () => scene.gateway.remotesOf(IPPolicy.resource);
const backends = () => scene.gateway.remotesOf(TunnelGroupBackend.resource);
const isUpdate = (call: string): boolean => call.startsWith("update ");

describe("an edit that was taken back after its answer was lost", () => {
  it.each(["unknown", "failed", "unreadable"] as const)(
    "is no drift, also with driftPolicy: Report (%s)",
    async (kind) => {
      const spec = { description: "one", driftPolicy: "Report" } as const;
      const object = await scene.given(IPPolicy, "office", spec);
      scene.gateway.loseAnswer("update", { kind });
      await scene.apply(IPPolicy, "office", { ...spec, description: "two" });
      expect(policies()).toMatchObject([{ description: "two" }]);
      await scene.apply(IPPolicy, "office", spec);
      expect(policies()).toMatchObject([{ description: "one" }]);
      await scene.resync(IPPolicy, object);
      expect(scene.condition(object, "Drifted")).toBeUndefined();
    },
  );

  it("does not stay in the account behind a module that a later edit leaves as it was", async () => {
    const spec = (enabled: boolean) => ({ backend: { enabled, backendRef: { id: "bkdtg_9" } } });
    await scene.given(TCPEdge, "db", spec(true));
    scene.gateway.loseAnswer("update");
    await scene.apply(TCPEdge, "db", spec(false));
    await scene.apply(TCPEdge, "db", { ...spec(true), description: "new" });
    expect(scene.gateway.remotesOf(TCPEdge.resource)).toMatchObject([
      { description: "new", backend: { enabled: true } },
    ]);
  });

  it("is removed also from modules, which no list shows", async () => {
    const { id: routeId } = scene.gateway.seed(HTTPSEdgeRoute.resource, {});
    const spec = (idpMetadata: string) => ({ edgeId: "edghts_1", routeId, saml: { enabled: true, idpMetadata } });
    await scene.given(HTTPSEdgeRoute, "route", spec("<One/>"));
    scene.gateway.loseAnswer("putModule");
    await scene.apply(HTTPSEdgeRoute, "route", spec("<Two/>"));
    await scene.apply(HTTPSEdgeRoute, "route", spec("<One/>"));
    expect(scene.gateway.remote(HTTPSEdgeRoute.resource, routeId)).toMatchObject({ saml: { idp_metadata: "<One/>" } });
  });

  it("costs one read, and none when it is sent again as it was", async () => {
    const object = await scene.given(IPPolicy, "office", { description: "one" });
    scene.gateway.loseAnswer("update");
    await scene.apply(IPPolicy, "office", { description: "two" });
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["update ipp_1", "update ipp_1"]);
    scene.gateway.loseAnswer("update");
    await scene.apply(IPPolicy, "office", { description: "three" });
    await scene.apply(IPPolicy, "office", { description: "two" });
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["update ipp_1", "get ipp_1", "update ipp_1"]);
    scene.gateway.swallow("update");
    await scene.apply(IPPolicy, "office", { description: "three" });
    await scene.apply(IPPolicy, "office", { description: "two" });
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["update ipp_1", "get ipp_1"]);
  });
});

describe("a remote that somebody deletes", () => {
  let object: ManagedObject;

  beforeEach(async () => {
    object = await scene.given(IPPolicy, "office", { description: "ours" });
  });

  /** Deletes the policy right before the next call of this type. */
  function dropBefore(verb: "get" | "update"): void {
    scene.gateway.beforeCall = (call) => {
      if (call.verb === verb) scene.gateway.drop(IPPolicy.resource, "ipp_1");
    };
  }

  it("right before a change of it is confirmed is created anew, and no failure is reported", async () => {
    scene.gateway.change(IPPolicy.resource, "ipp_1", { description: "theirs" });
    await scene.resync(IPPolicy);
    dropBefore("get");
    expect(await scene.reconcile(object)).toEqual({ stale: true });
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    await scene.settle(object, 3);
    expect(policies()).toMatchObject([{ id: scene.idOf(object), description: "ours" }]);
  });

  it("right before an update of it is created anew, and no failure is reported", async () => {
    scene.cluster.apply(IPPolicy, "office", { description: "new" });
    dropBefore("update");
    expect(await scene.reconcile(object)).toEqual({ stale: true });
    expect(scene.condition(object, "Ready")).toMatchObject({ status: "True", observedGeneration: 1 });
    await scene.settle(object, 3);
    expect(policies()).toMatchObject([{ id: scene.idOf(object), description: "new" }]);
  });
});

describe("a value that the service has normalised three times", () => {
  const labels = { app: "web" };
  let object: ManagedObject;

  beforeEach(async () => {
    scene.gateway.normalise = (remote) => ({ ...remote, description: "AS IT LIKES" });
    object = scene.cluster.apply(TunnelGroupBackend, "web", { description: "small", labels });
    await scene.settle(object, 3);
    expect(scene.condition(object, "Drifted")).toMatchObject({ reason: "RemoteNormalises" });
    scene.resetCounts();
  });

  it("is not sent again by this process when the status is lost", async () => {
    scene.cluster.loseStatus(object);
    await scene.settle(object, 3);
    expect(scene.gateway.takeCalls().filter(isUpdate)).toEqual([]);
    expect(scene.condition(object, "Drifted")).toMatchObject({ reason: "RemoteNormalises" });
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("does not keep a new process from correcting another field", async () => {
    scene.restart();
    scene.gateway.change(TunnelGroupBackend.resource, "bkdtg_1", { labels: { app: "theirs" } });
    await scene.settle(object, 3);
    expect(backends()).toMatchObject([{ labels }]);
  });

  it("is sent again after an edit", async () => {
    scene.restart();
    await scene.apply(TunnelGroupBackend, "web", { description: "other", labels });
    expect(scene.gateway.takeCalls().filter(isUpdate)).toEqual(["update bkdtg_1"]);
  });
});
