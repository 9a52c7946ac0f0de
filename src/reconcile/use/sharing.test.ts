import { beforeEach, describe, expect, it } from "vitest";
import { ownerIn } from "../../../test/fakes/reconcile/owner-in.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import { annotations } from "../../schema/contract.ts";

let scene: Scene;
let subscription: ManagedObject;
let id: string;

const types = (of = id): string[] => {
  const sources = scene.gateway.remote(EventSubscription.resource, of)?.["sources"] as
    | { type: string }[]
    | null
    | undefined;
  return (sources ?? []).map(({ type }) => type);
};
const setTypes = (...list: string[]) =>
  scene.gateway.change(EventSubscription.resource, id, { sources: list.map((type) => ({ type })) });
const specOf = (type: string) => ({ subscriptionRef: { name: "audit" }, type });
const listing = (...list: string[]) => ({ sources: list.map((type) => ({ type })) });
const originOf = (object: ManagedObject) => scene.cluster.now(object).status?.origin;

const apply = (name: string, type: string, more: object = {}) =>
  scene.cluster.apply(EventSource, name, { ...specOf(type), ...more });

async function end(object: ManagedObject): Promise<void> {
  await scene.deleteAndSettle(object);
  expect(scene.cluster.exists(object)).toBe(false);
}

beforeEach(async () => {
  scene = new Scene();
  subscription = await scene.given(EventSubscription, "audit", listing("a.v0"));
  id = scene.idOf(subscription);
  await scene.resync(EventSubscription);
});

it.each([
  ["Adopted", "one that was there", "x.v0"],
  ["Created", "one that was not", "b.v0"],
  ["Created", "one that the subscription lists itself", "a.v0"],
])("the origin of an entry is %s for %s", async (origin, _, type) => {
  setTypes("a.v0", "x.v0");
  await scene.resync(EventSubscription);
  expect((await scene.given(EventSource, "one", specOf(type))).status?.origin).toBe(origin);
});

describe("an object of another namespace that may add an entry", () => {
  const applyElsewhere = (type: string) =>
    scene.cluster.apply(EventSource, "other", { subscriptionRef: { id }, type }, { namespace: "team-b" });

  it("keeps it when the subscription no longer lists it, and when an object of this namespace is deleted", async () => {
    const object = await scene.given(EventSource, "a", specOf("a.v0"));
    await scene.reconcile(applyElsewhere("a.v0"));
    await scene.apply(EventSubscription, "audit", {});
    await end(object);
    expect(types()).toEqual(["a.v0"]);
  });

  it("has it in an update of the subscription while its create is under way", async () => {
    scene.gateway.swallow("createSource");
    await scene.reconcile(applyElsewhere("b.v0"));
    await scene.apply(EventSubscription, "audit", listing("c.v0"));
    expect(types().sort()).toEqual(["b.v0", "c.v0"]);
  });
});

it("an object of another account neither keeps an entry nor can have created it", async () => {
  const elsewhere = { accountRef: { name: "other" } };
  const object = await scene.given(EventSource, "b", specOf("b.v0"));
  apply("other", "b.v0", elsewhere);
  await end(object);
  expect(types()).toEqual(["a.v0"]);
  const maker = apply("maker", "x.v0", elsewhere);
  scene.cluster.annotateByHand(maker, annotations.createIntent, new Date(0).toISOString());
  setTypes("a.v0", "x.v0");
  await scene.resync(EventSubscription);
  expect(originOf(await scene.given(EventSource, "x", specOf("x.v0")))).toBe("Adopted");
});

describe("a kind that cannot be read", () => {
  it("keeps an entry that a subscription may list", async () => {
    const object = await scene.given(EventSource, "a", specOf("a.v0"));
    scene.cluster.vanish(subscription);
    scene.cluster.visibility.set("EventSubscription", "Unreadable");
    await scene.delete(object);
    expect(scene.reason(object)).toMatch(/^InUse: .*EventSubscription/);
    expect(types()).toEqual(["a.v0"]);
  });

  it("keeps the entries that a subscription has added and no longer lists", async () => {
    scene.cluster.visibility.set("EventSource", "Unreadable");
    await scene.apply(EventSubscription, "audit", listing("a.v0", "b.v0"));
    expect(types()).toEqual(["a.v0", "b.v0"]);
    await scene.apply(EventSubscription, "audit", listing("b.v0"));
    expect(scene.reason(subscription)).toMatch(/^InUse: .*EventSource objects: one of them may have esb_1\/a\.v0$/);
    expect(types()).toEqual(["a.v0", "b.v0"]);
    scene.cluster.visibility.clear();
    await scene.settle(subscription);
    expect(types()).toEqual(["b.v0"]);
  });
});

describe("an entry that existed before its objects", () => {
  it("is adopted without a request, and not deleted with the object", async () => {
    setTypes("a.v0", "x.v0");
    await scene.resync(EventSubscription);
    const object = await scene.given(EventSource, "x", specOf("x.v0"));
    expect(originOf(object)).toBe("Adopted");
    await end(object);
    expect(types()).toEqual(["a.v0", "x.v0"]);
  });

  it("is found when the service refuses to create it", async () => {
    setTypes("a.v0", "x.v0");
    const object = apply("x", "x.v0");
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual([`createSource ${id}/x.v0`, `get ${id}`]);
    expect(scene.reason(object)).toMatch(/^Available/);
    expect(originOf(object)).toBe("Adopted");
    await end(object);
    expect(types()).toEqual(["a.v0", "x.v0"]);
  });

  it("is not there when the service refuses its type", async () => {
    const object = apply("x", "x.v0");
    scene.gateway.refuse("createSource", 422, { serviceMessage: "no such type" });
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^InvalidSpec: .*no such type/);
    expect(scene.cluster.now(object).status).not.toHaveProperty("origin");
  });

  it("counts as existing before also when another object, which has sent nothing yet, wants it", async () => {
    setTypes("a.v0", "x.v0");
    await scene.resync(EventSubscription);
    apply("one", "x.v0");
    expect(originOf(await scene.given(EventSource, "two", specOf("x.v0")))).toBe("Adopted");
  });

  it("is not removed by an edit of the subscription while its object is being deleted", async () => {
    setTypes("a.v0", "x.v0");
    await scene.resync(EventSubscription);
    const object = await scene.given(EventSource, "x", specOf("x.v0"));
    scene.cluster.delete(object);
    await scene.apply(EventSubscription, "audit", listing("a.v0", "b.v0"));
    expect(types().sort()).toEqual(["a.v0", "b.v0", "x.v0"]);
  });

  it("is deleted with its object when a subscription that lists it is deleted as well", async () => {
    const object = await scene.given(EventSource, "a", specOf("a.v0"));
    scene.cluster.apply(EventSubscription, "audit", { ...listing("a.v0"), deletionPolicy: "Retain" });
    scene.cluster.delete(subscription);
    await end(object);
    expect(types()).toEqual([]);
  });

  it("does not count as existing before when the subscription's spec lists it", async () => {
    const object = await scene.given(EventSource, "a", specOf("a.v0"));
    expect(originOf(object)).toBe("Created");
    await end(object);
    expect(types()).toEqual(["a.v0"]);
  });

  it("5.2: does not count as existing before when it moves from the subscription's spec to an object of its own", async () => {
    scene.cluster.apply(EventSubscription, "audit", {});
    const object = await scene.given(EventSource, "a", specOf("a.v0"));
    expect(originOf(object)).toBe("Created");
    await scene.reconcile(subscription);
    expect(types()).toEqual(["a.v0"]);
    await end(object);
    expect(types()).toEqual([]);
  });

  it("does not count as existing before when the process died before the subscription's status had it", async () => {
    scene.cluster.beforeWrite = (write) => {
      if (write === "writeStatus") throw new Outdated("killed");
    };
    await scene.apply(EventSubscription, "audit", listing("a.v0", "b.v0"));
    scene.cluster.beforeWrite = () => {};
    scene.restart();
    expect(types()).toEqual(["a.v0", "b.v0"]);
    expect(originOf(await scene.given(EventSource, "b", specOf("b.v0")))).toBe("Created");
  });

  it("also counts as existing before for a second object", async () => {
    setTypes("a.v0", "x.v0");
    await scene.resync(EventSubscription);
    await scene.given(EventSource, "x", specOf("x.v0"));
    expect(originOf(await scene.given(EventSource, "y", specOf("x.v0")))).toBe("Adopted");
    await scene.given(EventSource, "b", specOf("b.v0"));
    expect(originOf(await scene.given(EventSource, "c", specOf("b.v0")))).toBe("Created");
  });

  it("no longer counts as existing before once it was recreated", async () => {
    setTypes("a.v0", "x.v0");
    await scene.resync(EventSubscription);
    const object = await scene.given(EventSource, "x", specOf("x.v0"));
    setTypes("a.v0");
    await scene.resync(EventSubscription, object);
    expect(types()).toEqual(["a.v0", "x.v0"]);
    expect(originOf(object)).toBe("Created");
    await end(object);
    expect(types()).toEqual(["a.v0"]);
  });

  it("may come from another object's create that is under way", async () => {
    const one = apply("one", "b.v0");
    scene.gateway.loseAnswer("createSource");
    await scene.reconcile(one);
    expect(scene.idOf(one)).toBe("");
    await scene.resync(EventSubscription);
    const two = await scene.given(EventSource, "two", specOf("b.v0"));
    expect(originOf(two)).toBe("Created");
    await scene.settle(one);
    expect(scene.idOf(one)).toBe(scene.idOf(two));
    await end(one);
    expect(types()).toEqual(["a.v0", "b.v0"]);
    await end(two);
    expect(types()).toEqual(["a.v0"]);
  });
});

describe("an entry that is left to an object which has not been looked at yet", () => {
  it("is deleted with that object, when it was left by another object", async () => {
    const one = await scene.given(EventSource, "one", specOf("b.v0"));
    apply("two", "b.v0");
    await end(one);
    expect(types()).toEqual(["a.v0", "b.v0"]);
    await end(await scene.given(EventSource, "two", specOf("b.v0")));
    expect(types()).toEqual(["a.v0"]);
  });

  it("is deleted with that object, when the subscription no longer lists it", async () => {
    apply("one", "a.v0");
    await scene.apply(EventSubscription, "audit", {});
    expect(types()).toEqual(["a.v0"]);
    await end(await scene.given(EventSource, "one", specOf("a.v0")));
    expect(types()).toEqual([]);
  });

  it("counts as existing before when somebody has removed it and added it again", async () => {
    const one = await scene.given(EventSource, "one", specOf("b.v0"));
    apply("two", "b.v0");
    await end(one);
    for (const list of [["a.v0"], ["a.v0", "b.v0"]]) {
      setTypes(...list);
      await scene.resync(EventSubscription);
    }
    expect(originOf(await scene.given(EventSource, "two", specOf("b.v0")))).toBe("Adopted");
  });

  it("counts as existing before for the next object, once that object has retained it", async () => {
    const one = await scene.given(EventSource, "one", specOf("b.v0"));
    apply("two", "b.v0");
    await end(one);
    const two = await scene.given(EventSource, "two", { ...specOf("b.v0"), deletionPolicy: "Retain" });
    await scene.reconcile(two);
    await end(two);
    expect(originOf(await scene.given(EventSource, "three", specOf("b.v0")))).toBe("Adopted");
  });

  it("counts as existing before if it did", async () => {
    setTypes("a.v0", "x.v0");
    await scene.resync(EventSubscription);
    const one = await scene.given(EventSource, "one", specOf("x.v0"));
    apply("two", "x.v0");
    await end(one);
    expect(originOf(await scene.given(EventSource, "two", specOf("x.v0")))).toBe("Adopted");
  });
});

it("an entry counts as existing before although a subscription that only observes lists it", async () => {
  const theirs = scene.gateway.seed(EventSubscription.resource, listing("x.v0"));
  await scene.resync(EventSubscription);
  const watching = { adopt: { id: theirs.id }, managementPolicy: "ObserveOnly", ...listing("x.v0") } as const;
  const watcher = await scene.given(EventSubscription, "watcher", watching);
  const object = await scene.given(EventSource, "x", { subscriptionRef: { id: theirs.id }, type: "x.v0" });
  expect(originOf(object)).toBe("Adopted");
  scene.cluster.delete(watcher);
  await end(object);
  expect(types(theirs.id)).toEqual(["x.v0"]);
});

describe("an entry that its object has created", () => {
  it("5.1: stays without a gap when the subscription has come to list it, and the object ends", async () => {
    const object = await scene.given(EventSource, "one", specOf("b.v0"));
    await scene.apply(EventSubscription, "audit", listing("a.v0", "b.v0"));
    scene.gateway.takeCalls();
    await end(object);
    await scene.settle(subscription);
    expect(types()).toEqual(["a.v0", "b.v0"]);
    expect(scene.gateway.takeCalls().filter((call) => /^(update|createSource|deleteSource)/.test(call))).toEqual([]);
  });

  // Nothing of the account says who added an entry, so this is accepted.
  it("5.5: is one that a person added right after the process noted its create and died", async () => {
    scene.gateway.swallow("createSource");
    const object = apply("one", "b.v0");
    await scene.reconcile(object);
    scene.restart();
    setTypes("a.v0", "b.v0");
    await scene.settle(object, 3);
    expect(originOf(object)).toBe("Created");
    await end(object);
    expect(types()).toEqual(["a.v0"]);
  });

  it("is deleted with it, however often the object was reconciled before", async () => {
    const object = await scene.given(EventSource, "b", specOf("b.v0"));
    await scene.resync(EventSubscription, object);
    expect(originOf(object)).toBe("Created");
    await end(object);
    expect(types()).toEqual(["a.v0"]);
  });

  it("is not created again when somebody has deleted it and the spec asks for reports only", async () => {
    const object = await scene.given(EventSource, "b", { ...specOf("b.v0"), driftPolicy: "Report" });
    setTypes("a.v0");
    await scene.resync(EventSubscription, object);
    expect(scene.reason(object)).toMatch(/^RemoteMissing: /);
    expect(types()).toEqual(["a.v0"]);
  });

  it("is not created again when only a list lacks it", async () => {
    const object = await scene.given(EventSource, "b", specOf("b.v0"));
    setTypes("a.v0");
    await scene.resync(EventSubscription);
    setTypes("a.v0", "b.v0");
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual([`get ${id}`]);
    expect(scene.reason(object)).toMatch(/^Available/);
  });

  it("is read once when a person asks for a reconcile, whether it is there or not", async () => {
    const object = await scene.given(EventSource, "b", specOf("b.v0"));
    const ask = (value: string) => scene.cluster.annotateByHand(object, annotations.reconcileRequestedAt, value);
    ask("once");
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual([`get ${id}`]);
    setTypes("a.v0");
    ask("again");
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual([`get ${id}`, `createSource ${id}/b.v0`]);
  });

  it("is created although the spec asks to report drift only", async () => {
    await scene.given(EventSource, "b", { ...specOf("b.v0"), driftPolicy: "Report" });
    expect(types()).toEqual(["a.v0", "b.v0"]);
  });

  it("is reported as missing by an object that only observes", async () => {
    const object = apply("c", "c.v0", { managementPolicy: "ObserveOnly" });
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^RemoteMissing: /);
    expect(types()).toEqual(["a.v0"]);
  });
});

describe("an entry whose parent has no object", () => {
  const orphan = { subscriptionRef: { name: "missing" }, type: "o.v0" };

  it.each(["Full", "ObserveOnly"] as const)("is waited for with managementPolicy %s", async (managementPolicy) => {
    const object = await scene.apply(EventSource, "orphan", { ...orphan, managementPolicy });
    expect(scene.reason(object)).toMatch(/^ReferenceNotReady: Create EventSubscription "missing"/);
  });

  it("does not keep an object that has created nothing", async () => {
    const object = apply("b", "b.v0");
    scene.gateway.refuse("createSource", 403);
    await scene.reconcile(object);
    scene.cluster.vanish(subscription);
    await end(object);
    expect(types()).toEqual(["a.v0"]);
  });
});

describe("the list of the parent", () => {
  it("5.3: contains the entries that other objects are about to add, and not those that they are about to remove", async () => {
    const leaving = await scene.given(EventSource, "leaving", specOf("l.v0"));
    const coming = apply("coming", "c.v0");
    scene.gateway.swallow("createSource");
    await scene.reconcile(coming);
    scene.cluster.delete(leaving);
    expect(types()).toEqual(["a.v0", "l.v0"]);
    await scene.apply(EventSubscription, "audit", { ...listing("a.v0"), description: "new" });
    expect(types()).toEqual(["a.v0", "c.v0"]);
    expect(scene.reason(subscription)).toMatch(/^Available/);
  });

  it("contains the entries that other objects are about to add also when only the owner mark is renewed", async () => {
    await scene.apply(EventSubscription, "audit", { ...listing("a.v0"), driftPolicy: "Report" });
    scene.changeClusterID("c2");
    scene.gateway.swallow("createSource");
    await scene.reconcile(apply("coming", "c.v0"));
    await scene.reconcile(subscription);
    expect(types()).toEqual(["a.v0", "c.v0"]);
    expect(ownerIn(scene.gateway.remote(EventSubscription.resource, id) ?? {})).toBe("c2/team-a/audit");
  });

  it("contains no entries of objects with another account, although they name the subscription", async () => {
    apply("x", "x.v0", { accountRef: { name: "other" } });
    await scene.apply(EventSubscription, "audit", listing("a.v0", "b.v0"));
    expect(types()).toEqual(["a.v0", "b.v0"]);
  });

  it("contains an entry that one object is about to remove and another one wants", async () => {
    const leaving = await scene.given(EventSource, "leaving", specOf("l.v0"));
    await scene.given(EventSource, "staying", specOf("l.v0"));
    scene.cluster.delete(leaving);
    await scene.apply(EventSubscription, "audit", { ...listing("a.v0"), description: "new" });
    expect(types()).toEqual(["a.v0", "l.v0"]);
  });

  it("keeps entries of deleted objects that retain them", async () => {
    const object = await scene.given(EventSource, "kept", { ...specOf("k.v0"), deletionPolicy: "Retain" });
    scene.cluster.delete(object);
    await scene.apply(EventSubscription, "audit", { ...listing("a.v0"), description: "new" });
    expect(types()).toEqual(["a.v0", "k.v0"]);
  });

  it.each([
    ["is released", annotations.releaseTo, "team-b/other"],
    ["is paused", annotations.paused, "true"],
  ])("keeps the entry of a deleted object that %s", async (_, annotation, value) => {
    const object = await scene.given(EventSource, "b", specOf("b.v0"));
    scene.cluster.annotateByHand(object, annotation, value);
    scene.cluster.delete(object);
    await scene.apply(EventSubscription, "audit", listing("c.v0"));
    expect(types().sort()).toEqual(["b.v0", "c.v0"]);
  });

  it("keeps the entry of a deleted object while one that cannot be read may want it", async () => {
    const object = await scene.given(EventSource, "b", specOf("b.v0"));
    scene.cluster.unread.push("team-b");
    await scene.delete(object);
    await scene.apply(EventSubscription, "audit", listing("a.v0", "c.v0"));
    expect(types().sort()).toEqual(["a.v0", "b.v0", "c.v0"]);
    scene.cluster.unread.length = 0;
    await end(object);
    expect(types().sort()).toEqual(["a.v0", "c.v0"]);
  });

  it("contains no entries that objects only observe", async () => {
    apply("watching", "w.v0", { managementPolicy: "ObserveOnly" });
    await scene.apply(EventSubscription, "audit", { ...listing("a.v0"), description: "new" });
    expect(types()).toEqual(["a.v0"]);
  });

  it("is read right before it is replaced, so that new entries are not lost", async () => {
    setTypes("a.v0", "x.v0");
    await scene.apply(EventSubscription, "audit", { ...listing("a.v0"), description: "new" });
    expect(scene.gateway.takeCalls()).toEqual([`get ${id}`, `update ${id}`]);
    expect(types()).toEqual(["a.v0", "x.v0"]);
  });

  it("keeps the entries of objects that go because their kind does, also when the parent is edited meanwhile", async () => {
    const object = await scene.given(EventSource, "b", specOf("b.v0"));
    scene.cluster.kindsDeleting.add("EventSource");
    scene.cluster.delete(object);
    await scene.apply(EventSubscription, "audit", listing("a.v0", "c.v0"));
    expect(types()).toEqual(["a.v0", "b.v0"]);
    expect(scene.condition(subscription, "Synced")?.message).toMatch(/^Waiting until the EventSource objects are gone/);
    await end(object);
    await scene.settle(subscription, 3);
    expect(types()).toEqual(["a.v0", "c.v0", "b.v0"]);
  });
});

describe("an entry whose parent was recreated", () => {
  it("is created in the new parent, and deleted from the old one if that still exists", async () => {
    const object = await scene.given(EventSource, "b", specOf("b.v0"));
    scene.cluster.delete(subscription);
    scene.cluster.apply(EventSubscription, "next", listing("n.v0"));
    const next = await scene.given(EventSubscription, "next", listing("n.v0"));
    // For example, the subscription was released with the orphan annotation and created again.
    const { status } = scene.cluster.now(next);
    await scene.cluster.writeStatus(EventSubscription, scene.cluster.now(subscription), status ?? {});
    scene.cluster.apply(EventSubscription, "audit", listing("a.v0"), { deletionTimestamp: undefined as never });
    await scene.settle(object);
    expect(scene.idOf(object)).toBe(`${status?.id}/b.v0`);
    expect(types(status?.id)).toEqual(["n.v0", "b.v0"]);
    expect(types()).toEqual(["a.v0"]);
  });

  it("is deleted from the old parent also when the new one had it already", async () => {
    const object = await scene.given(EventSource, "b", specOf("b.v0"));
    const next = await scene.given(EventSubscription, "next", listing("b.v0"));
    const { status } = scene.cluster.now(next);
    scene.cluster.vanish(next);
    await scene.cluster.writeStatus(EventSubscription, scene.cluster.now(subscription), {
      ...scene.cluster.now(subscription).status,
      id: status?.id ?? "",
    });
    scene.gateway.change(EventSubscription.resource, status?.id ?? "", { metadata: null });
    await scene.settle(object);
    expect(scene.cluster.now(object).status).toMatchObject({ id: `${status?.id}/b.v0`, origin: "Adopted" });
    expect([types(), types(status?.id)]).toEqual([["a.v0"], ["b.v0"]]);
  });

  it("is deleted from the old parent also by a process that has just started", async () => {
    const object = await scene.given(EventSource, "b", specOf("b.v0"));
    const next = scene.gateway.seed(EventSubscription.resource, {});
    scene.cluster.vanish(subscription);
    await scene.given(EventSubscription, "audit", { adopt: { id: next.id } });
    scene.restart();
    await scene.settle(object);
    expect([types(), types(next.id)]).toEqual([["a.v0"], ["b.v0"]]);
  });

  it("waits while there is no parent", async () => {
    const object = await scene.given(EventSource, "b", specOf("b.v0"));
    scene.gateway.drop(EventSubscription.resource, id);
    await scene.resync(EventSubscription, object);
    expect(scene.reason(object)).toMatch(/^ReferenceNotReady/);
    await scene.reconcile(subscription);
    await scene.settle(object);
    expect(scene.idOf(object)).toBe(`${scene.idOf(subscription)}/b.v0`);
    expect(types(scene.idOf(subscription))).toEqual(["a.v0", "b.v0"]);
  });
});
