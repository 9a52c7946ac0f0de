import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import type { ManagedObject } from "../../objects/object.ts";

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

describe("a create of an entry whose answer was lost", () => {
  it("is found by this process or the next", async () => {
    for (const restart of [false, true]) {
      const object = apply(`lost-${restart}`, `lost_${restart}.v0`);
      scene.gateway.loseAnswer("createSource");
      await scene.reconcile(object);
      if (restart) scene.restart();
      await scene.settle(object);
      expect(scene.reason(object)).toMatch(/^Available/);
      expect(originOf(object)).toBe("Created");
    }
    expect(scene.gateway.takeCalls().filter((call) => call.startsWith("createSource"))).toHaveLength(2);
  });

  it("is not sent again before it can no longer be carried out", async () => {
    const object = apply("b", "b.v0");
    scene.gateway.swallow("createSource");
    await scene.reconcile(object);
    await scene.clock.advance(1000);
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^Creating/);
    expect(types()).toEqual(["a.v0"]);
    await scene.settle(object);
    expect(types()).toEqual(["a.v0", "b.v0"]);
  });

  it("is searched for before its object is deleted", async () => {
    const object = apply("b", "b.v0");
    scene.gateway.loseAnswer("createSource");
    await scene.reconcile(object);
    scene.restart();
    await end(object);
    expect(types()).toEqual(["a.v0"]);
  });
});

it("a create of an entry that made nothing gives no right to what a person adds later", async () => {
  scene.gateway.swallow("createSource");
  const object = await scene.apply(EventSource, "b", specOf("b.v0"));
  scene.gateway.put(EventSubscription.resource, { id: "esb_next", sources: [] });
  await scene.clock.advance(120_000);
  await scene.resync(EventSubscription);
  scene.cluster.apply(EventSource, "b", { subscriptionRef: { id: "esb_next" }, type: "b.v0" });
  await scene.settle(object, 4);
  expect(types("esb_next")).toEqual(["b.v0"]);
  expect(scene.cluster.now(object).status?.["retiring"]).toBeUndefined();
  expect(scene.gateway.takeCalls().filter((call) => call.startsWith("deleteSource"))).toEqual([]);
});

// An entry has no owner mark, and nothing says in which subscription it was made.
describe("2.13: an entry whose create was not answered, of a subscription that is retained and whose object has ended", () => {
  let others: string;
  let source: ManagedObject;

  /** An adopted subscription, which stays in the account when its object is deleted. */
  const given = (adopted: string) => scene.given(EventSubscription, "kept", { adopt: { id: adopted } });

  beforeEach(async () => {
    [id, others] = [
      scene.gateway.seed(EventSubscription.resource, {}),
      scene.gateway.seed(EventSubscription.resource, {}),
    ].map((row) => row.id) as [string, string];
    await scene.resync(EventSubscription);
    subscription = await given(id);
    scene.gateway.loseAnswer("createSource");
    source = await scene.apply(EventSource, "b", { subscriptionRef: { name: "kept" }, type: "b.v0" });
    expect([types(), scene.cluster.now(source).status?.id]).toEqual([["b.v0"], undefined]);
    await end(subscription);
  });

  it.each([false, true])("stays when its object ends (restart: %s)", async (dies) => {
    if (dies) scene.restart();
    await end(source);
    expect(types()).toEqual(["b.v0"]);
  });

  it.each([false, true])(
    "stays when the spec comes to mean another subscription, which gets one (restart: %s)",
    async (dies) => {
      await given(others);
      if (dies) scene.restart();
      for (let count = 0; count < 2; count += 1) await scene.settle(source);
      expect(scene.reason(source)).toMatch(/^Available/);
      expect([types(), types(others)]).toEqual([["b.v0"], ["b.v0"]]);
      expect(scene.cluster.now(source).status?.["retiring"]).toBeUndefined();
    },
  );
});
