import { beforeEach, describe, expect, it } from "vitest";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { ownerMarkOf } from "../../objects/ownership.ts";
import { annotations, FINALIZER } from "../../schema/contract.ts";
import { reconcile } from "../reconcile.ts";
import { DEADLINE_MS, Scene } from "../testing/scene.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

describe("a straight create", () => {
  it("is one POST, two writes to the cluster and no event", async () => {
    const object = scene.cluster.apply(IPPolicy, "office", { description: "the office" });
    expect(await scene.reconcile(object)).toEqual({});
    expect(scene.gateway.takeCalls()).toEqual(["create"]);
    expect(scene.cluster.writes).toEqual(["annotate", "writeStatus"]);
    expect(scene.cluster.events).toEqual([]);
    expect(scene.condition(object, "Ready")).toMatchObject({ status: "True", reason: "Available" });
  });

  it("sends nothing and writes nothing when it is looked at again", async () => {
    const object = await scene.given(IPPolicy, "office", { description: "the office" });
    expect(await scene.reconcile(object)).toEqual({});
    expect(scene.gateway.takeCalls()).toEqual([]);
    expect(await scene.reconcile(object)).toEqual({});
    expect(scene.gateway.takeCalls()).toEqual([]);
    expect(scene.cluster.writes).toEqual([]);
  });

  it("marks what it makes, and holds on to the object until it is deleted", async () => {
    const object = await scene.given(IPPolicy, "office", { metadata: '{"team":"a"}' });
    const [remote] = scene.gateway.remotesOf(IPPolicy.remote);
    expect(remote && ownerMarkOf(remote)).toBe("c1/team-a/office");
    expect(JSON.parse(String(remote?.["metadata"]))).toMatchObject({ team: "a" });
    expect(object.metadata.finalizers).toEqual([FINALIZER]);
    expect(object.metadata.annotations).toHaveProperty([annotations.createIntent]);
  });

  it("leaves opaque metadata exactly as it is", async () => {
    await scene.given(IPPolicy, "office", { metadata: "  our text  " });
    expect(scene.gateway.remotesOf(IPPolicy.remote)).toMatchObject([{ metadata: "  our text  " }]);
  });

  it("is recorded before it is sent", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    scene.cluster.beforeWrite = (write) => {
      if (write === "annotate") expect(scene.gateway.calls).toEqual([]);
    };
    await scene.reconcile(object);
    expect(scene.gateway.remotesOf(IPPolicy.remote)).toHaveLength(1);
  });

  it("is not sent when somebody else wrote first", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    const context = scene.contextFor(object);
    scene.cluster.apply(IPPolicy, "office", { description: "meanwhile" });
    expect(await reconcile(context, { resyncSeconds: 300 })).toEqual({ stale: true });
    expect(scene.gateway.takeCalls()).toEqual(["list"]);
  });

  it("is not sent when recording it took longer than it may", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    scene.cluster.beforeWrite = (write) => (write === "annotate" ? scene.clock.advance(DEADLINE_MS) : undefined);
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual([]);
    expect(scene.reason(object)).toMatch(/^Creating: /);
    scene.cluster.beforeWrite = () => {};
    await scene.settle(object);
    expect(scene.gateway.remotesOf(IPPolicy.remote)).toHaveLength(1);
  });
});

describe("a create whose answer holds the id and little else that can be read", () => {
  const unreadable = { kind: "unreadable", status: 201 } as const;

  it("saves the id and reads the rest", async () => {
    scene.gateway.loseAnswer("create", unreadable);
    const object = scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com" });
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["create", "get rd_1"]);
    expect(scene.idOf(object)).toBe("rd_1");
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("saves the id even when nothing else can be read", async () => {
    scene.gateway.loseAnswer("create", unreadable);
    scene.gateway.loseAnswer("get", unreadable);
    const object = scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com" });
    expect(await scene.reconcile(object)).toEqual({ backoff: true });
    expect(scene.idOf(object)).toBe("rd_1");
    expect(scene.reason(object)).toMatch(/^UnexpectedResponse: /);
    scene.restart();
    await scene.reconcile(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.gateway.remotesOf(ReservedDomain.remote)).toHaveLength(1);
  });
});

describe("a create that was refused", () => {
  it("says what the service said, and is not sought afterwards", async () => {
    scene.gateway.refuse("create", 400, { serviceMessage: "no more policies" });
    const object = scene.cluster.apply(IPPolicy, "office");
    expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: 1800 });
    expect(scene.reason(object)).toMatch(/^InvalidSpec: .*no more policies/);
    scene.resetCounts();
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["create"]);
  });

  it("prints the lines that take over what has the name already", async () => {
    scene.gateway.seed(ReservedDomain.remote, { domain: "A.example.com." });
    scene.gateway.refuse("create", 409);
    const object = scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com" });
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^AlreadyExists: .*adopt: \{id: rd_1\}/);
    expect(scene.condition(object, "Stalled")?.status).toBe("True");
  });

  it.each([400, 409, 422])("finds out whether the name is taken, as %i may say so", async (status) => {
    scene.gateway.refuse("create", status);
    const object = scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com" });
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^InvalidSpec: /);
  });

  it("goes on as soon as the spec takes over what is there", async () => {
    scene.gateway.seed(ReservedDomain.remote, { domain: "a.example.com" });
    const object = scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com" });
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^AlreadyExists: /);
    scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com", adopt: { id: "rd_1" } });
    await scene.reconcile(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.idOf(object)).toBe("rd_1");
  });

  it("is tried again when the service asked for patience", async () => {
    scene.gateway.refuse("create", 429, { retryAfterSeconds: 7 });
    const object = scene.cluster.apply(IPPolicy, "office");
    expect(await scene.reconcile(object)).toEqual({ backoff: true, atLeastSeconds: 7 });
    await scene.clock.advance(7000);
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["create", "create"]);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });
});
