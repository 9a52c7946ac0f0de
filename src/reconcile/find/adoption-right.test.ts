import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import type { ManagedObject } from "../../objects/object.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
  scene.mayAdopt = false;
});

const changes = () => scene.gateway.calls.filter(({ verb }) => verb !== "get" && verb !== "list");

describe("in a namespace without the right to adopt", () => {
  it.each([
    ["by id", IPPolicy, (id: string) => ({ adopt: { id }, deletionPolicy: "Delete" as const })],
    ["by name", ReservedDomain, () => ({ domain: "a.example.com", adopt: { existing: true as const } })],
  ])("nothing is adopted %s, and deleting the object leaves the remote", async (_, kind, spec) => {
    const { id } = scene.gateway.seed(kind.resource, { domain: "a.example.com" });
    const object = await scene.apply(kind, "one", spec(id));
    expect(scene.reason(object)).toMatch(
      new RegExp(
        `^AdoptionNotAllowed: .*adoption.namespaces: \\["team-a"\\], or \\["\\*"\\] for .* may not take over ${id}$`,
      ),
    );
    scene.cluster.delete(object);
    if (scene.cluster.exists(object)) await scene.settle(object);
    expect(scene.gateway.remote(kind.resource, id)).toBeDefined();
    expect(changes()).toEqual([]);
  });

  it("a remote is observed", async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, {});
    const object = await scene.apply(IPPolicy, "one", { adopt: { id }, managementPolicy: "ObserveOnly" });
    expect(scene.reason(object)).toMatch(/^Available/);
  });

  it("an object finds its own remote again", async () => {
    const object = await scene.given(IPPolicy, "own", {});
    const id = scene.idOf(object);
    scene.cluster.apply(IPPolicy, "own", { adopt: { id } });
    scene.cluster.loseStatus(object);
    scene.restart();
    await scene.settle(object, 3);
    expect(scene.idOf(object)).toBe(id);
    expect(scene.reason(object)).toMatch(/^Available/);
  });

  it("an object keeps what it has adopted before", async () => {
    scene.mayAdopt = true;
    const { id } = scene.gateway.seed(IPPolicy.resource, {});
    const object = await scene.given(IPPolicy, "one", { adopt: { id } });
    scene.mayAdopt = false;
    scene.cluster.apply(IPPolicy, "one", { adopt: { id }, description: "new" });
    await scene.settle(object, 2);
    expect(scene.gateway.remote(IPPolicy.resource, id)).toMatchObject({ description: "new" });
  });

  it("an entry is not added to a subscription of others that is given by id", async () => {
    const { id } = scene.gateway.seed(EventSubscription.resource, { sources: [] });
    const object = await scene.apply(EventSource, "one", { subscriptionRef: { id }, type: "a_created.v0" });
    expect(scene.reason(object)).toMatch(new RegExp(`^AdoptionNotAllowed: .* ${id}$`));
    expect(changes()).toEqual([]);
    const own = await scene.given(EventSubscription, "audit");
    const entry = { subscriptionRef: { id: scene.idOf(own) }, type: "a_created.v0" };
    expect(scene.reason(await scene.given(EventSource, "two", entry))).toMatch(/^Available/);
  });

  it("an entry is not added to a subscription of others that an object of the namespace only observes", async () => {
    const { id } = scene.gateway.seed(EventSubscription.resource, { sources: [] });
    await scene.given(EventSubscription, "watched", { adopt: { id }, managementPolicy: "ObserveOnly" });
    const object = await scene.apply(EventSource, "one", {
      subscriptionRef: { name: "watched" },
      type: "a_created.v0",
    });
    expect(scene.reason(object)).toMatch(new RegExp(`^AdoptionNotAllowed: .* ${id}$`));
    expect(changes()).toEqual([]);
  });

  describe("an object that has an entry of a subscription of its own, whose name comes to mean one of others", () => {
    const types = (of: string) =>
      ((scene.gateway.remote(EventSubscription.resource, of)?.["sources"] ?? []) as { type: string }[]).map(
        ({ type }) => type,
      );
    let object: ManagedObject;
    let theirs: ManagedObject;
    let id: string;
    let own: string;

    beforeEach(async () => {
      theirs = await scene.given(EventSubscription, "theirs", { sources: [{ type: "a.v0" }] });
      id = scene.idOf(theirs);
      const namespace = "team-b";
      const mine = await scene.apply(EventSubscription, "audit", { sources: [] }, { namespace });
      own = scene.idOf(mine);
      const spec = { subscriptionRef: { name: "audit" }, type: "x.v0" };
      object = await scene.apply(EventSource, "one", spec, { namespace });
      expect(scene.reason(object)).toMatch(/^Available/);
      await scene.resync(EventSubscription);
      scene.cluster.vanish(mine);
      const watching = { adopt: { id }, managementPolicy: "ObserveOnly" as const };
      const watched = await scene.apply(EventSubscription, "audit", watching, { namespace });
      expect(scene.idOf(watched)).toBe(id);
    });

    it("adds nothing there, and keeps what it has", async () => {
      await scene.settle(object, 3);
      expect(scene.reason(object)).toMatch(new RegExp(`^AdoptionNotAllowed: .* ${id}$`));
      expect([types(id), types(own)]).toEqual([["a.v0"], ["x.v0"]]);
      await scene.apply(EventSubscription, "theirs", { sources: [{ type: "b.v0" }] });
      expect(types(id)).toEqual(["b.v0"]);
      await scene.deleteAndSettle(object);
      expect([scene.cluster.exists(object), types(id), types(own)]).toEqual([false, ["b.v0"], []]);
    });

    it("keeps no entry there, and makes none that was there one that goes", async () => {
      const made = await scene.given(EventSource, "made", { subscriptionRef: { name: "theirs" }, type: "x.v0" });
      await scene.deleteAndSettle(made);
      expect([scene.cluster.exists(made), types(id)]).toEqual([false, ["a.v0"]]);
      scene.gateway.change(EventSubscription.resource, id, { sources: [{ type: "a.v0" }, { type: "x.v0" }] });
      await scene.resync(EventSubscription);
      const found = await scene.given(EventSource, "found", { subscriptionRef: { name: "theirs" }, type: "x.v0" });
      expect(found.status?.origin).toBe("Adopted");
    });

    it("does not keep the subscription either", async () => {
      await scene.deleteAndSettle(theirs);
      expect(scene.gateway.remote(EventSubscription.resource, id)).toBeUndefined();
    });
  });

  it("5.4: an entry is neither added nor kept for it when others change their subscription", async () => {
    const subscription = await scene.given(EventSubscription, "audit", { sources: [{ type: "b.v0" }] });
    const id = scene.idOf(subscription);
    await scene.resync(EventSubscription);
    const types = () => scene.gateway.remote(EventSubscription.resource, id)?.["sources"];
    const entry = (type: string) => ({ subscriptionRef: { id }, type });
    const own = await scene.given(EventSource, "own", entry("c.v0"));
    for (const type of ["a.v0", "b.v0", "c.v0"]) {
      const object = await scene.apply(EventSource, `thief-${type}`, entry(type), { namespace: "team-b" });
      expect(scene.reason(object)).toMatch(/^AdoptionNotAllowed/);
    }
    await scene.apply(EventSubscription, "audit", { sources: [{ type: "d.v0" }] });
    expect(types()).toMatchObject([{ type: "d.v0" }, { type: "c.v0" }]);
    await scene.deleteAndSettle(own);
    expect(types()).toMatchObject([{ type: "d.v0" }]);
  });

  it.each([
    ["the object of another namespace stands for", {}, { namespace: "team-b" }],
    ["an object only observes", { managementPolicy: "ObserveOnly" as const }, {}],
  ])("an entry is not added to a subscription that %s", async (_, spec, metadata) => {
    const { id } = scene.gateway.seed(EventSubscription.resource, { sources: [] });
    scene.mayAdopt = true;
    await scene.apply(EventSubscription, "theirs", { adopt: { id }, ...spec }, metadata);
    scene.mayAdopt = false;
    const object = await scene.apply(EventSource, "one", { subscriptionRef: { id }, type: "a_created.v0" });
    expect(scene.reason(object)).toMatch(new RegExp(`^AdoptionNotAllowed: .* ${id}$`));
  });

  it("the error for a name that is taken does not offer to adopt", async () => {
    scene.gateway.seed(ReservedDomain.resource, { domain: "a.example.com" });
    const object = await scene.apply(ReservedDomain, "one", { domain: "a.example.com" });
    expect(scene.reason(object)).toMatch(/^AlreadyExists: Choose another name/);
  });
});
