import { beforeEach, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { intentOf } from "../../objects/intent.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { ownerMarkOf } from "../../objects/ownership.ts";

// The mark of a remote says which create made it. It stays for the life of the remote with this object.

let scene: Scene;
let create: string | undefined;
let object: ManagedObject;

const marks = () => scene.gateway.remotesOf(IPPolicy.resource).map(ownerMarkOf);

beforeEach(async () => {
  scene = new Scene();
  object = await scene.given(IPPolicy, "office", { description: "one", metadata: '{"team":"a"}' });
  create = intentOf(object)?.create;
});

it("is in the status too", () => {
  expect(create).toMatch(/^2026-/);
  expect(scene.cluster.now(object).status).toMatchObject({ created: create, origin: "Created" });
  expect(marks()).toEqual([`c1/team-a/office#${create}`]);
});

it("costs a settled object no request and no write", async () => {
  scene.resetCounts();
  await scene.reconcile(object);
  expect([scene.gateway.takeCalls(), scene.cluster.writes]).toEqual([[], []]);
});

it.each([
  ["an edit of the spec", { description: "two", metadata: '{"team":"a"}' }],
  ["an edit of the metadata", { description: "one", metadata: '{"team":"b"}' }],
  ["an edit that drops the metadata", { description: "one" }],
])("stays at %s", async (_, spec) => {
  await scene.apply(IPPolicy, "office", spec);
  expect(marks()).toEqual([`c1/team-a/office#${create}`]);
});

it("stays when the cluster has got another id", async () => {
  scene.changeClusterID("c2");
  await scene.reconcile(object);
  expect(marks()).toEqual([`c2/team-a/office#${create}`]);
});

it("finds the remote of an object that has lost its status", async () => {
  const id = scene.idOf(object);
  scene.cluster.loseStatus(object);
  scene.restart();
  await scene.settle(object);
  expect(scene.idOf(object)).toBe(id);
  expect(marks()).toEqual([`c1/team-a/office#${create}`]);
});

it("is that of another owner for another object, which is told the owner without the create", async () => {
  const adopt = { id: scene.idOf(object) };
  const other = scene.cluster.apply(IPPolicy, "other", { description: "two", adopt });
  await scene.settle(other);
  expect(scene.reason(other)).toMatch(/^OwnershipConflict/);
  expect(marks()).toEqual([`c1/team-a/office#${create}`]);
  expect(scene.reason(other)).not.toContain("#");
});
