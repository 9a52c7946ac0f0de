import { beforeEach, describe, expect, it } from "vitest";
import { ownerIn } from "../../../test/fakes/reconcile/owner-in.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { annotations } from "../../schema/contract.ts";

// What stays of a shared list when one of its users goes, or when the subscription is edited.

let scene: Scene;
let id: string;

const types = (): string[] => {
  const sources = scene.gateway.remote(EventSubscription.resource, id)?.["sources"] as { type: string }[] | null;
  return (sources ?? []).map(({ type }) => type);
};
const listing = (...list: string[]) => ({ sources: list.map((type) => ({ type })) });
const setTypes = (...list: string[]) => scene.gateway.change(EventSubscription.resource, id, listing(...list));
const specOf = (type: string) => ({ subscriptionRef: { name: "audit" }, type });
const given = (name: string, type: string, more: object = {}) =>
  scene.given(EventSource, name, { ...specOf(type), ...more });
const edit = () => scene.apply(EventSubscription, "audit", { ...listing("a.v0"), description: "new" });

beforeEach(async () => {
  scene = new Scene();
  id = scene.idOf(await scene.given(EventSubscription, "audit", listing("a.v0")));
  await scene.resync(EventSubscription);
});

it("an entry goes with its object, although other objects have other entries of the list", async () => {
  const object = await given("b", "b.v0");
  await given("c", "c.v0");
  await scene.deleteAndSettle(object);
  expect(scene.cluster.exists(object)).toBe(false);
  expect(types()).toEqual(["a.v0", "c.v0"]);
});

it("an entry goes with its object, although an object of another namespace, which may not have it, asks for it", async () => {
  scene.mayAdopt = false;
  const object = await given("b", "b.v0");
  const spec: ManagedObject["spec"] = { subscriptionRef: { id }, type: "b.v0" };
  const other = await scene.apply(EventSource, "other", spec, { namespace: "team-b" });
  expect(scene.reason(other)).toMatch(/^AdoptionNotAllowed: /);
  await scene.deleteAndSettle(object);
  expect(scene.cluster.exists(object)).toBe(false);
  expect(types()).toEqual(["a.v0"]);
});

it("an entry goes with its object, although an object of another namespace that only observes the subscription lists it", async () => {
  const object = await given("b", "b.v0");
  scene.mayAdopt = false;
  const watching = { adopt: { id }, managementPolicy: "ObserveOnly" as const, ...listing("a.v0", "b.v0") };
  const other = await scene.apply(EventSubscription, "watching", watching, { namespace: "team-b" });
  expect(scene.reason(other)).toMatch(/^Available: /);
  await scene.deleteAndSettle(object);
  expect(scene.cluster.exists(object)).toBe(false);
  expect(types()).toEqual(["a.v0"]);
});

it("an entry counts as existing before, although the objects of other entries have created theirs", async () => {
  await given("b", "b.v0");
  setTypes("a.v0", "b.v0", "x.v0");
  await scene.resync(EventSubscription);
  const object = await given("x", "x.v0");
  expect(object.status?.origin).toBe("Adopted");
  await scene.deleteAndSettle(object);
  expect(types()).toEqual(["a.v0", "b.v0", "x.v0"]);
});

describe("an edit of the subscription leaves an entry of others", () => {
  it("that an object only observes", async () => {
    setTypes("a.v0", "w.v0");
    await scene.resync(EventSubscription);
    await given("watching", "w.v0", { managementPolicy: "ObserveOnly" });
    await edit();
    expect(types()).toEqual(["a.v0", "w.v0"]);
  });

  it("that its object has retained, when one that only observed it is being deleted", async () => {
    const object = await given("b", "b.v0", { deletionPolicy: "Retain" });
    const watching = await given("watching", "b.v0", { managementPolicy: "ObserveOnly" });
    await scene.deleteAndSettle(object);
    scene.cluster.restore({ ...watching, metadata: { ...watching.metadata, finalizers: ["example.com/keep"] } });
    scene.cluster.delete(watching);
    await edit();
    expect(types()).toEqual(["a.v0", "b.v0"]);
  });

  it("that an object asks for which may not have it", async () => {
    setTypes("a.v0", "x.v0");
    await scene.resync(EventSubscription);
    const spec: ManagedObject["spec"] = { subscriptionRef: { id }, type: "x.v0" };
    scene.cluster.apply(EventSource, "other", spec, { namespace: "team-b" });
    await edit();
    expect(types()).toEqual(["a.v0", "x.v0"]);
  });

  it.each([
    ["of another namespace, which may not have it", "team-b"],
    ["that has sent nothing", "team-a"],
  ])("that somebody else has added, when an object %s goes slowly", async (_, namespace) => {
    scene.mayAdopt = false;
    setTypes("a.v0", "x.v0");
    await scene.resync(EventSubscription);
    const spec: ManagedObject["spec"] = { subscriptionRef: { id }, type: "x.v0" };
    const object = scene.cluster.apply(EventSource, "other", spec, { namespace, finalizers: ["example.com/keep"] });
    scene.cluster.delete(object);
    await edit();
    expect(types()).toEqual(["a.v0", "x.v0"]);
  });

  it("that somebody has added again, when the object that had it is not gone yet", async () => {
    const object = await given("b", "b.v0");
    const finalizers = [...(object.metadata.finalizers ?? []), "example.com/keep"];
    scene.cluster.restore({ ...object, metadata: { ...object.metadata, finalizers } });
    await scene.deleteAndSettle(object);
    expect(types()).toEqual(["a.v0"]);
    setTypes("a.v0", "b.v0");
    await scene.resync(EventSubscription);
    await edit();
    expect(types()).toEqual(["a.v0", "b.v0"]);
  });

  it("whose name an object has in a former subscription, and is being deleted", async () => {
    const object = await given("b", "b.v0");
    const next = scene.gateway.seed(EventSubscription.resource, listing("a.v0", "b.v0")).id;
    const former = id;
    scene.cluster.vanish(await scene.apply(EventSubscription, "audit", listing("a.v0")));
    id = next;
    await scene.resync(EventSubscription);
    await scene.given(EventSubscription, "audit", { adopt: { id }, ...listing("a.v0") });
    scene.cluster.delete(object);
    await scene.apply(EventSubscription, "audit", { adopt: { id }, ...listing("a.v0"), description: "new" });
    expect(types()).toEqual(["a.v0", "b.v0"]);
    await scene.settle(object);
    id = former;
    expect(types()).toEqual(["a.v0"]);
  });

  it("that an object leaves which is being deleted with the orphan annotation", async () => {
    const object = await given("b", "b.v0");
    scene.cluster.annotateByHand(object, annotations.orphan, "true");
    scene.cluster.delete(object);
    await edit();
    expect(types()).toEqual(["a.v0", "b.v0"]);
  });
});

it("an entry that somebody has removed does not hold its object, also when drift is only reported", async () => {
  const object = await given("b", "b.v0", { driftPolicy: "Report" });
  setTypes("a.v0");
  await scene.resync(EventSubscription, object);
  expect(scene.reason(object)).toMatch(/^RemoteMissing: /);
  await scene.deleteAndSettle(object);
  expect(scene.cluster.exists(object)).toBe(false);
  expect(types()).toEqual(["a.v0"]);
});

it("a renewed owner mark leaves the entries of objects that go because their kind does", async () => {
  await given("b", "b.v0");
  const subscription = await scene.apply(EventSubscription, "audit", listing("a.v0"));
  const object = await scene.apply(EventSource, "b", specOf("b.v0"));
  scene.changeClusterID("c2");
  scene.cluster.kindsDeleting.add("EventSource");
  scene.cluster.delete(object);
  await scene.reconcile(subscription);
  expect(types()).toEqual(["a.v0", "b.v0"]);
  await scene.deleteAndSettle(object);
  await scene.settle(subscription, 3);
  expect(types()).toEqual(["a.v0", "b.v0"]);
  expect(ownerIn(scene.gateway.remote(EventSubscription.resource, id) ?? {})).toBe("c2/team-a/audit");
});
