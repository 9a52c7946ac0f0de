import { beforeEach, describe, expect, it } from "vitest";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Scene } from "../testing/scene.ts";

// What counts as a change by somebody else, and what is corrected once a correction did not last.

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const policies = () => scene.gateway.remotesOf(IPPolicy.resource);
const backends = () => scene.gateway.remotesOf(TunnelGroupBackend.resource);
const isUpdate = (call: string): boolean => call.startsWith("update ");

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
