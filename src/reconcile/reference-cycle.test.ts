import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../test/fakes/reconcile/scene.ts";
import { FailoverBackend } from "../kinds/failover-backend.ts";
import { TCPEdge } from "../kinds/tcp-edge.ts";
import type { ManagedObject } from "../objects/object.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const refs = (...names: string[]) => ({ backendRefs: names.map((name) => ({ kind: "FailoverBackend", name })) });

const given = (name: string, ...to: string[]): ManagedObject => scene.cluster.apply(FailoverBackend, name, refs(...to));

describe("objects that wait for each other in a cycle", () => {
  it("say so, each with the cycle from its own view, and send nothing", async () => {
    const all = [given("one", "two"), given("two", "one"), given("itself", "itself")];
    for (const object of all) await scene.reconcile(object);
    const way =
      "Take one of these references out, at least until all objects exist in the account: each waits for the next, ";
    expect(all.map((object) => scene.reason(object))).toEqual([
      `ReferenceCycle: ${way}FailoverBackend one -> FailoverBackend two -> FailoverBackend one`,
      `ReferenceCycle: ${way}FailoverBackend two -> FailoverBackend one -> FailoverBackend two`,
      `ReferenceCycle: ${way}FailoverBackend itself -> FailoverBackend itself`,
    ]);
    for (const object of all) expect(scene.condition(object, "Stalled")?.status).toBe("True");
    expect(scene.gateway.takeCalls()).toEqual([]);
  });

  it("go on once one of the references is taken out, and it can be put back then", async () => {
    const [one, two] = [given("one", "two"), given("two", "one")];
    for (const object of [one, two]) await scene.reconcile(object);
    await scene.apply(FailoverBackend, "two", refs());
    await scene.reconcile(one);
    await scene.apply(FailoverBackend, "two", refs("one"));
    for (const object of [one, two]) {
      expect(scene.condition(object, "Ready")?.status).toBe("True");
      expect(scene.condition(object, "Stalled")).toBeUndefined();
    }
    expect(scene.gateway.remote(FailoverBackend.resource, scene.idOf(two))).toMatchObject({
      backends: [scene.idOf(one)],
    });
  });

  it("have no say in what an object outside of the cycle says, which waits", async () => {
    given("one", "one");
    const backend = { enabled: true, backendRef: { kind: "FailoverBackend", name: "one" } };
    const edge = await scene.apply(TCPEdge, "edge", { backend });
    expect(scene.reason(edge)).toMatch(/^ReferenceNotReady: /);
  });

  it("become Ready without an edit when they find the remotes that they had", async () => {
    const two = await scene.given(FailoverBackend, "two", refs());
    const one = await scene.given(FailoverBackend, "one", refs("two"));
    await scene.apply(FailoverBackend, "two", refs("one"));
    for (const object of [one, two]) scene.cluster.loseStatus(object);
    scene.restart();
    for (const object of [one, two, one, two]) await scene.reconcile(object);
    for (const object of [one, two]) expect(scene.condition(object, "Ready")?.status).toBe("True");
  });
});
