import { beforeEach, describe, expect, it } from "vitest";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import type { ManagedObject } from "../../objects/object.ts";
import type { Kind } from "../../schema/define.ts";
import { Scene } from "../testing/scene.ts";

// Lists leave out `metadata`, and with it the owner marks that a GET shows.

const mark = (owner: string) => JSON.stringify({ "tunnelgateway.dev/owner": owner });
const OURS = mark("c1/team-a/office");
const THEIRS = mark("c2/team-a/office");

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
  scene.gateway.unlisted.add("metadata");
});

const calls = () => scene.gateway.takeCalls().filter((call) => call !== "list");
const remotes = (kind: Kind = IPPolicy) => scene.gateway.remotesOf(kind.resource);
const strangers = (count: number): string[] =>
  Array.from({ length: count }, () => scene.gateway.seed(IPPolicy.resource, { metadata: "theirs" }).id);

/** Somebody else writes another mark into a remote. */
const remark = (kind: Kind, object: ManagedObject, metadata: string) =>
  scene.gateway.change(kind.resource, scene.idOf(object), { metadata });

describe("before a create", () => {
  it("the remote that an earlier object of the name has left is found by a GET", async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, { metadata: OURS });
    const [other] = strangers(1);
    const object = await scene.apply(IPPolicy, "office");
    expect(scene.idOf(object)).toBe(id);
    expect(remotes()).toHaveLength(2);
    expect(calls().filter((call) => call === `get ${other}`)).toHaveLength(1);
  });

  it("each remote without an object is read once, for all that are created", async () => {
    const ids = strangers(3);
    const names = ["office", "home", "lab"];
    for (const name of names) scene.cluster.apply(IPPolicy, name);
    await Promise.all(names.map((name) => scene.apply(IPPolicy, name)));
    await scene.resync(IPPolicy);
    await scene.apply(IPPolicy, "late");
    expect(remotes()).toHaveLength(3 + 4);
    scene.restart();
    await scene.apply(IPPolicy, "later");
    expect(calls()).toEqual(expect.arrayContaining(["create", ...ids.map((id) => `get ${id}`)]));
  });

  it("20 are read in one reconcile, and nothing is created before all are", async () => {
    strangers(50);
    const { id } = scene.gateway.seed(IPPolicy.resource, { metadata: OURS });
    strangers(10);
    const object = scene.cluster.apply(IPPolicy, "office");
    await scene.reconcile(object);
    expect(calls()).toHaveLength(20);
    expect(scene.reason(object)).toMatch(/^Creating: Reading 41 more of the account, one by one: /);
    await scene.settle(object);
    expect(scene.idOf(object)).toBe(id);
    expect(remotes()).toHaveLength(61);
  });

  it("what a cluster that nobody has told of has for the name stops it", async () => {
    scene = new Scene({ isClusterIDSet: false });
    scene.gateway.unlisted.add("metadata");
    scene.gateway.seed(IPPolicy.resource, { metadata: THEIRS });
    const object = await scene.apply(IPPolicy, "office");
    expect(scene.reason(object)).toMatch(/^OwnershipConflict: Set formerClusterIDs/);
    expect(remotes()).toHaveLength(1);
  });
});

it.each([
  ["without a natural key", IPPolicy, {}],
  ["with a natural key", ReservedDomain, { domain: "a.example.com" }],
] as const)("a create whose answer was lost is found, by a kind %s", async (_, kind, spec) => {
  const object = scene.cluster.apply(kind, "office", spec);
  scene.gateway.loseAnswer("create");
  await scene.reconcile(object);
  expect(scene.idOf(object)).toBe("");
  scene.restart();
  await scene.settle(object);
  expect(scene.idOf(object)).toBe(remotes(kind)[0]?.id);
  expect(remotes(kind)).toHaveLength(1);
});

describe("what is found by its name", () => {
  it("is not taken over from another cluster", async () => {
    scene.gateway.seed(ReservedDomain.resource, { domain: "a.example.com", metadata: THEIRS });
    const object = await scene.apply(ReservedDomain, "office", { domain: "a.example.com", adopt: { existing: true } });
    expect(scene.reason(object)).toMatch(/^OwnershipConflict: /);
    expect(calls()).toEqual([expect.stringMatching(/^get /)]);
  });
});

describe("a remote that somebody has marked for another cluster", () => {
  it("is not changed", async () => {
    const object = await scene.given(IPPolicy, "office", { description: "first" });
    remark(IPPolicy, object, THEIRS);
    await scene.resync(IPPolicy);
    scene.cluster.apply(IPPolicy, "office", { description: "second" });
    await scene.settle(object);
    expect(calls().filter((call) => call.startsWith("update"))).toEqual([]);
    expect(scene.reason(object)).toMatch(/^OwnershipConflict: /);
  });

  it("is not deleted", async () => {
    const object = await scene.given(IPPolicy, "office");
    remark(IPPolicy, object, THEIRS);
    await scene.resync(IPPolicy);
    scene.cluster.delete(object);
    await scene.settle(object);
    expect(calls().filter((call) => call.startsWith("delete"))).toEqual([]);
    expect(remotes()).toHaveLength(1);
  });
});

describe("requests", () => {
  it("are no more where lists show marks, although not in each row", async () => {
    scene.gateway.unlisted.clear();
    scene.gateway.normalise = ({ id, ...members }) => ({
      ...Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)),
      id,
    });
    await scene.given(IPPolicy, "home");
    strangers(1);
    for (let count = 0; count < 3; count += 1) scene.gateway.seed(IPPolicy.resource, {});
    await scene.resync(IPPolicy);
    const object = await scene.apply(IPPolicy, "office");
    scene.cluster.apply(IPPolicy, "office", { description: "edited" });
    await scene.resync(IPPolicy);
    await scene.reconcile(object);
    expect(calls()).toEqual([`update ${scene.idOf(object)}`]);
  });

  it("are 20 at the most where the service leaves out what is not set, and nothing is marked", async () => {
    scene.gateway.unlisted.clear();
    scene.gateway.normalise = ({ id, ...members }) => ({
      ...Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)),
      id,
    });
    for (let count = 0; count < 50; count += 1) scene.gateway.seed(IPPolicy.resource, {});
    const object = scene.cluster.apply(IPPolicy, "office");
    await scene.settle(object);
    expect(remotes()).toHaveLength(51);
    const gets = calls().filter((call) => call.startsWith("get "));
    expect(gets).toHaveLength(20);
    await scene.resync(IPPolicy);
    await scene.apply(IPPolicy, "home");
    expect(calls()).toEqual(["create"]);
  });

  it("are none for a settled object, and one more for its change", async () => {
    const object = await scene.given(TCPEdge, "office", { description: "first" });
    for (let count = 0; count < 2; count += 1) {
      await scene.resync(TCPEdge);
      await scene.reconcile(object);
    }
    expect(calls()).toEqual([]);
    scene.cluster.apply(TCPEdge, "office", { description: "second" });
    await scene.reconcile(object);
    expect(calls()).toEqual([`get ${scene.idOf(object)}`, `update ${scene.idOf(object)}`]);
  });
});
