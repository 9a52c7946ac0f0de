import { beforeEach, describe, expect, it } from "vitest";
import { ownerIn } from "../../../test/fakes/reconcile/owner-in.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { ownerMark } from "../../objects/ownership.ts";
import { annotations, FINALIZER } from "../../schema/contract.ts";

// A policy moves from team-a/old to team-b/new.

let scene: Scene;
let old: ManagedObject;
let id: string;

beforeEach(async () => {
  scene = new Scene();
  old = await scene.given(IPPolicy, "old", { description: "office" });
  id = scene.idOf(old);
});

const release = (to = "team-b/new") => scene.cluster.annotateByHand(old, annotations.releaseTo, to);
const applyNew = (spec: ManagedObject["spec"] = {}, name = "new") =>
  scene.cluster.apply(
    IPPolicy,
    name,
    { description: "office", adopt: { id, from: "team-a/old" }, ...spec },
    { namespace: "team-b" },
  );
const remote = () => scene.gateway.remote(IPPolicy.resource, id);
const mark = () => ownerIn(remote() ?? {});
const markOf = (namespace: string, name: string) => ownerMark({ cluster: "c1", namespace, name });
const rows = () => scene.gateway.remotesOf(IPPolicy.resource);
const changes = () => scene.gateway.takeCalls().filter((call) => !/^(get|list)/.test(call));

it("a remote that is released to its own object stays, and nobody is said to have taken it", async () => {
  release("team-a/old");
  await scene.reconcile(old);
  expect(scene.condition(old, "Paused")?.message).toBe(
    "Remove the annotation release-to, or name another object: IPPolicy team-a/old is this one",
  );
  await scene.deleteAndSettle(old);
  expect(rows().map((row) => row.id)).toEqual([id]);
});

describe.each([
  ["with a mark", {}],
  ["without room for a mark", { metadata: "opaque" }],
])("a remote %s", (_, spec) => {
  beforeEach(async () => {
    await scene.apply(IPPolicy, "old", { description: "office", ...spec });
    scene.resetCounts();
  });

  it.each([
    ["the release comes first", true],
    ["the adoption comes first", false],
  ])("moves when both objects say so, and has no other owner again; %s", async (_when, first) => {
    scene.mayAdopt = false;
    if (first) release();
    const to = applyNew(spec);
    for (const object of [to, old]) await scene.reconcile(object);
    if (!first) release();
    for (const object of [to, old, to, old]) await scene.reconcile(object);
    expect(scene.idOf(to)).toBe(id);
    expect(scene.reason(to)).toMatch(/^Available: /);
    expect(scene.condition(old, "Paused")).toMatchObject({
      reason: "Released",
      message: `Delete this object: IPPolicy team-b/new has ${id} now`,
    });
    await scene.delete(old);
    expect(scene.cluster.exists(old)).toBe(false);
    expect(rows().map((row) => row.id)).toEqual([id]);
    scene.resetCounts();
    await scene.settle(to);
    expect(changes()).toEqual([]);
    expect(scene.condition(to, "Ready")?.status).toBe("True");
  });

  it("stays with the new object when its spec no longer says where it came from", async () => {
    release();
    const to = applyNew(spec);
    await scene.reconcile(to);
    scene.cluster.apply(IPPolicy, "new", { description: "ours", ...spec }, { namespace: "team-b" });
    for (const object of [old, to, old, to]) await scene.reconcile(object);
    expect(remote()?.["description"]).toBe("ours");
    await scene.deleteAndSettle(old);
    expect(rows()).toHaveLength(1);
  });
});

it("costs one update, of the mark", async () => {
  release();
  const to = applyNew();
  await scene.reconcile(to);
  expect(changes()).toEqual([`update ${id}`]);
  expect(mark()).toBe(markOf("team-b", "new"));
});

it("keeps the origin, and with it what a deletion does", async () => {
  release();
  const to = applyNew();
  await scene.reconcile(to);
  expect(scene.cluster.now(to).status?.origin).toBe("Created");
  await scene.delete(old);
  await scene.deleteAndSettle(to);
  expect(rows()).toEqual([]);
});

describe("without consent", () => {
  it("nothing moves, and the message says what is missing", async () => {
    const to = applyNew();
    await scene.reconcile(to);
    expect(scene.reason(to)).toBe(
      `OwnershipConflict: Set the annotation tunnelgateway.dev/release-to: team-b/new on IPPolicy team-a/old, which has ${id}`,
    );
    expect(mark()).toBe(markOf("team-a", "old"));
  });

  it.each([
    ["another object than the one that is named", () => applyNew({}, "thief")],
    ["an object that does not say where it comes from", () => applyNew({ adopt: { id } })],
    ["an object that uses another account", () => applyNew({ accountRef: { name: "other" } })],
    ["an object that names another source", () => applyNew({ adopt: { id, from: "team-a/other" } })],
  ])("%s gets nothing", async (_, apply) => {
    release();
    const thief = apply();
    await scene.reconcile(thief);
    expect(scene.reason(thief)).toMatch(/^OwnershipConflict: /);
    expect(scene.idOf(thief)).toBe("");
    expect(mark()).toBe(markOf("team-a", "old"));
  });

  it("an object that uses another account is told to use the same", async () => {
    const to = applyNew({ accountRef: { name: "other" } });
    await scene.reconcile(to);
    expect(scene.reason(to)).toBe(`OwnershipConflict: Use the account of IPPolicy team-a/old, which has ${id}`);
  });

  it("an older object that wants the remote as well does not come first", async () => {
    const older = applyNew({ adopt: { id } }, "older");
    await scene.reconcile(older);
    await scene.clock.advance(60_000);
    release();
    const to = applyNew();
    for (const object of [older, to, older]) await scene.reconcile(object);
    expect([scene.idOf(older), scene.idOf(to)]).toEqual(["", id]);
  });

  it("the release of a remote that the object does not have gives nothing", async () => {
    const other = await scene.given(IPPolicy, "other");
    release();
    const to = applyNew({ adopt: { id: scene.idOf(other), from: "team-a/old" } });
    await scene.reconcile(to);
    expect(scene.idOf(to)).toBe("");
  });
});

it("a release to another cluster gives nothing to the objects of this one, and the remote stays", async () => {
  release("team-b/new/office");
  const thief = applyNew();
  for (const object of [thief, old]) await scene.reconcile(object);
  expect(scene.idOf(thief)).toBe("");
  await scene.delete(old);
  expect(scene.cluster.exists(old)).toBe(false);
  expect(rows().map((row) => row.id)).toEqual([id]);
});

describe("an object that is released", () => {
  it("writes nothing: neither an edit nor drift, and makes nothing new", async () => {
    release();
    scene.cluster.apply(IPPolicy, "old", { description: "edited" });
    scene.gateway.change(IPPolicy.resource, id, { description: "drifted" });
    await scene.resync(IPPolicy, old);
    scene.cluster.loseStatus(old);
    scene.restart();
    await scene.settle(old);
    expect(changes()).toEqual([]);
    expect(rows()).toHaveLength(1);
  });

  it("goes on when the annotation is removed before the remote is taken", async () => {
    release();
    await scene.reconcile(old);
    expect(scene.condition(old, "Paused")?.message).toBe(
      `Give IPPolicy team-b/new the spec adopt: {id: ${id}, from: team-a/old}, or remove the annotation release-to to go on`,
    );
    scene.cluster.removeAnnotation(old, annotations.releaseTo);
    await scene.apply(IPPolicy, "old", { description: "edited" });
    expect(remote()?.["description"]).toBe("edited");
    expect(scene.condition(old, "Paused")).toBeUndefined();
  });

  it("is told to remove the annotation when it has no status that tells what it has", async () => {
    release();
    scene.cluster.loseStatus(old);
    await scene.reconcile(old);
    expect(scene.condition(old, "Paused")?.message).toBe(
      "Remove the annotation release-to to go on: it is not known which IP policy this object has",
    );
    scene.cluster.removeAnnotation(old, annotations.releaseTo);
    await scene.reconcile(old);
    expect(scene.idOf(old)).toBe(id);
  });

  it("does not take the remote back when the annotation is removed later", async () => {
    release();
    const to = applyNew();
    await scene.reconcile(to);
    scene.cluster.removeAnnotation(old, annotations.releaseTo);
    await scene.apply(IPPolicy, "old", { description: "edited" });
    expect(scene.reason(old)).toBe(
      `OwnershipConflict: Delete this object, or ask for a release by IPPolicy team-b/new, which has ${id}`,
    );
    expect(remote()?.["description"]).toBe("office");
  });

  it("deletes nothing, and waits for an object that asks for the remote", async () => {
    release();
    const to = applyNew();
    await scene.delete(old);
    expect(scene.cluster.exists(old)).toBe(true);
    expect(scene.reason(old)).toBe(`Released: Look at IPPolicy team-b/new: it has not taken ${id} over yet`);
    await scene.reconcile(to);
    await scene.reconcile(old);
    expect(scene.cluster.exists(old)).toBe(false);
    expect(mark()).toBe(markOf("team-b", "new"));
  });

  it("does not wait when it has no remote to give", async () => {
    const empty = scene.cluster.apply(IPPolicy, "empty", {}, { finalizers: [FINALIZER] });
    const { name, namespace } = old.metadata;
    scene.cluster.annotateByHand(empty, annotations.releaseTo, `${namespace}/${name}`);
    await scene.reconcile(empty);
    expect(scene.condition(empty, "Paused")?.message).toMatch(/^Remove the annotation release-to to go on/);
    await scene.deleteAndSettle(empty);
    expect(scene.cluster.exists(empty)).toBe(false);
    expect(rows()).toHaveLength(1);
  });

  it("leaves the remote in the account when nobody asks for it", async () => {
    release();
    await scene.delete(old);
    expect(scene.cluster.exists(old)).toBe(false);
    expect(rows()).toHaveLength(1);
  });

  it("does not wait for an object that is being deleted itself, and is held by a finalizer of others", async () => {
    release();
    const spec = { adopt: { id, from: "team-a/old" } };
    const to = scene.cluster.apply(IPPolicy, "new", spec, { namespace: "team-b", finalizers: ["example.com/hold"] });
    scene.cluster.delete(to);
    await scene.delete(old);
    expect(scene.cluster.exists(old)).toBe(false);
    expect(rows()).toHaveLength(1);
  });

  it("does not hold up its namespace", async () => {
    release();
    applyNew();
    scene.cluster.namespaceDeleting = true;
    await scene.delete(old);
    expect(scene.cluster.exists(old)).toBe(false);
    expect(rows()).toHaveLength(1);
  });
});

describe("when the former object is gone", () => {
  beforeEach(async () => {
    release();
    await scene.delete(old);
  });

  it("its remote is adopted by right", async () => {
    const to = applyNew();
    await scene.reconcile(to);
    expect(scene.idOf(to)).toBe(id);
    expect(scene.cluster.now(to).status?.origin).toBe("Adopted");
  });

  it("and its remote is not taken without the right", async () => {
    scene.mayAdopt = false;
    const to = applyNew();
    await scene.reconcile(to);
    expect(scene.reason(to)).toMatch(/^AdoptionNotAllowed: /);
  });
});

it("an edge keeps its restriction on the way, whatever the new object says of it", async () => {
  const before = { ipRestriction: { ipPolicyRefs: [{ name: "old" }] } };
  const edge = await scene.given(TLSEdge, "edge", before);
  const edgeID = scene.idOf(edge);
  const restriction = () => scene.gateway.remote(TLSEdge.resource, edgeID)?.["ip_restriction"];
  const seen: unknown[] = [];
  scene.gateway.beforeCall = () => seen.push(restriction());
  scene.cluster.annotateByHand(edge, annotations.releaseTo, "team-b/edge");
  const to = scene.cluster.apply(
    TLSEdge,
    "edge",
    { description: "moved", adopt: { id: edgeID, from: "team-a/edge" } },
    { namespace: "team-b" },
  );
  for (const object of [edge, to, edge]) await scene.reconcile(object);
  await scene.delete(edge);
  expect(scene.cluster.exists(edge)).toBe(false);
  expect(scene.idOf(to)).toBe(edgeID);
  seen.push(restriction());
  expect(new Set(seen.map((one) => JSON.stringify(one)))).toEqual(new Set([JSON.stringify(restriction())]));
  expect(JSON.stringify(restriction())).toContain(id);
});

it("is taken by an object with a finalizer, so that a deletion right after it leaves nothing", async () => {
  release();
  const to = applyNew();
  await scene.reconcile(to);
  expect(scene.cluster.now(to).metadata.finalizers).toContain(FINALIZER);
});

it("an object whose former remote went with the other object makes another one, and deletes it when it goes", async () => {
  release();
  const to = applyNew();
  for (const object of [to, old, to, old]) await scene.reconcile(object);
  await scene.deleteAndSettle(to);
  scene.cluster.removeAnnotation(old, annotations.releaseTo);
  for (let count = 0; rows().length === 0 && count < 5; count += 1) await scene.reconcile(old);
  expect(rows()).toMatchObject([{ id: scene.idOf(old), description: "office" }]);
  expect(scene.idOf(old)).not.toBe(id);
  expect(scene.cluster.now(old).status?.holds).toBeUndefined();
  await scene.deleteAndSettle(old);
  expect(rows()).toEqual([]);
});

describe("where drift is only reported", () => {
  const given = async (spec: ManagedObject["spec"] = {}) => {
    await scene.apply(IPPolicy, "old", { description: "office", driftPolicy: "Report", ...spec });
    scene.gateway.change(IPPolicy.resource, id, { description: "by hand" });
    await scene.resync(IPPolicy, old);
    expect(scene.cluster.now(old).status?.drift).toEqual(["description"]);
    release();
    scene.resetCounts();
  };

  it.each([
    ["with the mark of the former object", (text: string) => text],
    ["whose mark somebody has removed", () => ""],
  ])("a remote %s keeps what somebody else has changed, and gets the mark", async (_, metadata) => {
    await given();
    scene.gateway.change(IPPolicy.resource, id, { metadata: metadata(String(remote()?.["metadata"])) });
    await scene.resync(IPPolicy);
    const to = applyNew({ driftPolicy: "Report" });
    for (const object of [to, old, to]) await scene.reconcile(object);
    expect(remote()?.["description"]).toBe("by hand");
    expect(mark()).toBe(markOf("team-b", "new"));
    expect(scene.cluster.now(to).status?.drift).toEqual(["description"]);
    expect(scene.condition(to, "Drifted")?.reason).toBe("RemoteDiffers");
    await scene.deleteAndSettle(old);
    scene.restart();
    await scene.settle(to);
    expect(remote()?.["description"]).toBe("by hand");
  });

  it.each([
    ["another spec", { driftPolicy: "Report" as const, description: "moved" }, "moved"],
    ["a spec that corrects drift", {}, "office"],
  ])("%s is carried out", async (_, spec, description) => {
    await given();
    const to = applyNew(spec);
    for (const object of [to, old, to]) await scene.reconcile(object);
    expect(remote()?.["description"]).toBe(description);
  });
});
