import { beforeEach, expect, it } from "vitest";
import { Scene } from "../../../../test/fakes/reconcile/scene.ts";
import { EventSource } from "../../../kinds/event-source.ts";
import { EventSubscription } from "../../../kinds/event-subscription.ts";
import type { ManagedObject } from "../../../objects/object.ts";

let scene: Scene;
let subscription: ManagedObject;
let id: string;

beforeEach(async () => {
  scene = new Scene();
  subscription = await scene.given(EventSubscription, "audit");
  id = scene.idOf(subscription);
});

const types = (): string[] => {
  const sources = scene.gateway.remote(EventSubscription.resource, id)?.["sources"] as { type: string }[] | null;
  return (sources ?? []).map(({ type }) => type);
};

/** An entry whose create was interrupted. */
async function interrupted(): Promise<ManagedObject> {
  const object = await scene.apply(EventSource, "one", { subscriptionRef: { name: "audit" }, type: "a.v0" });
  scene.restart();
  return object;
}

it("an entry whose create was interrupted is found at once, and goes with its object", async () => {
  scene.gateway.loseAnswer("createSource");
  const object = await interrupted();
  await scene.reconcile(object);
  expect(scene.reason(object)).toMatch(/^Available/);
  expect(scene.cluster.now(object).status).toMatchObject({ id: `${id}/a.v0`, origin: "Created" });
  await scene.deleteAndSettle(object);
  expect(types()).toEqual([]);
});

it("an entry that may still be made is waited for, and then made once", async () => {
  scene.gateway.swallow("createSource");
  const object = await interrupted();
  scene.resetCounts();
  await scene.reconcile(object);
  expect(scene.reason(object)).toMatch(/^Creating: /);
  await scene.settle(object);
  expect(scene.reason(object)).toMatch(/^Available/);
  expect(scene.gateway.takeCalls().filter((call) => call.startsWith("createSource"))).toHaveLength(1);
  expect(scene.cluster.events.map(({ reason }) => reason)).not.toContain("RemoteMissing");
});

it("an entry that somebody has deleted is created again, and an event tells of it", async () => {
  const spec = { subscriptionRef: { name: "audit" }, type: "a.v0" };
  const object = await scene.given(EventSource, "one", spec);
  scene.gateway.change(EventSubscription.resource, id, { sources: [] });
  await scene.resync(EventSubscription, object);
  expect(types()).toEqual(["a.v0"]);
  expect(scene.cluster.events).toMatchObject([
    { reason: "RemoteMissing", note: expect.stringContaining(`${id}/a.v0`) },
  ]);
});

it("an entry that was there before stays when the spec comes to mean another subscription", async () => {
  scene.gateway.change(EventSubscription.resource, id, { sources: [{ type: "a.v0" }] });
  await scene.resync(EventSubscription);
  const spec = { subscriptionRef: { name: "audit" }, type: "a.v0", deletionPolicy: "Delete" } as const;
  const object = await scene.given(EventSource, "one", spec);
  expect(object.status?.origin).toBe("Adopted");
  const audit = scene.cluster.now(subscription);
  const next = scene.gateway.seed(EventSubscription.resource, {});
  await scene.resync(EventSubscription);
  await scene.cluster.writeStatus(EventSubscription, audit, { ...audit.status, id: next.id });
  await scene.settle(object);
  expect(scene.idOf(object)).toBe(`${next.id}/a.v0`);
  expect(types()).toEqual(["a.v0"]);
});
