import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { SSHHostCertificate } from "../../kinds/ssh-host-certificate.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { annotations } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";

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
    const object = await scene.apply(IPPolicy, "office");
    expect(calls()).toHaveLength(20);
    expect(scene.reason(object)).toMatch(/^Creating: Reading 41 more of the account, one by one: /);
    await scene.settle(object);
    expect(scene.idOf(object)).toBe(id);
    expect(remotes()).toHaveLength(61);
  });

  it("one that was deleted since it was listed costs no wait", async () => {
    const [gone = ""] = strangers(1);
    await scene.resync(IPPolicy);
    scene.gateway.drop(IPPolicy.resource, gone);
    const object = await scene.apply(IPPolicy, "office");
    expect(calls()).toEqual([`get ${gone}`, "create"]);
    expect(scene.reason(object)).toMatch(/^Available/);
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

  it.each([
    ["is this object's, if it has its mark", OURS, /^Available/],
    ["stays with another cluster, if it has its mark", THEIRS, /^OwnershipConflict: /],
  ])("right after the service has refused a create, since the name is taken, %s", async (_, metadata, reason) => {
    scene.gateway.seed(ReservedDomain.resource, { domain: "b.example.com" });
    let taken = "";
    scene.gateway.beforeCall = ({ verb }) => {
      if (verb === "create")
        taken = scene.gateway.seed(ReservedDomain.resource, { domain: "a.example.com", metadata }).id;
    };
    const object = await scene.apply(ReservedDomain, "office", { domain: "a.example.com" });
    expect(calls()).toContain(`get ${taken}`);
    expect(scene.reason(object)).toMatch(reason);
    expect(scene.gateway.remote(ReservedDomain.resource, taken)?.["metadata"]).toBe(metadata);
  });

  it("is not taken over from another cluster that has marked it since it was read", async () => {
    const { id } = scene.gateway.seed(ReservedDomain.resource, { domain: "a.example.com" });
    const spec = { domain: "a.example.com", adopt: { existing: true as const } };
    scene.mayAdopt = false;
    const object = await scene.apply(ReservedDomain, "office", spec);
    expect(scene.reason(object)).toMatch(/^AdoptionNotAllowed: /);
    scene.gateway.change(ReservedDomain.resource, id, { metadata: THEIRS });
    scene.mayAdopt = true;
    await scene.clock.advance(1000);
    scene.resetCounts();
    await scene.apply(ReservedDomain, "office", spec);
    expect(scene.reason(object)).toMatch(/^OwnershipConflict: /);
    expect(calls()).toEqual([`get ${id}`]);
    expect(scene.cluster.writes).toEqual(["writeStatus"]);
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

  it.each([
    ["leave marks out", ["metadata"]],
    ["show marks", []],
  ])("is not changed when the GET that confirms drift shows it, where lists %s", async (_, unlisted) => {
    scene = new Scene();
    for (const member of unlisted) scene.gateway.unlisted.add(member);
    const object = await scene.given(IPPolicy, "office", { description: "ours" });
    scene.gateway.change(IPPolicy.resource, scene.idOf(object), { description: "theirs" });
    await scene.resync(IPPolicy);
    scene.gateway.beforeCall = ({ verb }) => {
      if (verb === "get") remark(IPPolicy, object, THEIRS);
    };
    await scene.settle(object);
    expect(calls()).toEqual([`get ${scene.idOf(object)}`]);
    expect(scene.reason(object)).toMatch(/^OwnershipConflict: /);
  });

  it("keeps the first of two objects that have its id from going in silence", async () => {
    const first = await scene.given(IPPolicy, "first");
    const second = await scene.given(IPPolicy, "second");
    await scene.cluster.writeStatus(IPPolicy, second, { ...first.status });
    remark(IPPolicy, first, THEIRS);
    scene.restart();
    await scene.delete(first);
    expect(scene.reason(first)).toMatch(/^OwnershipConflict: Ask the owner/);
    expect(remotes()).toHaveLength(2);
  });

  it("is not deleted", async () => {
    const object = await scene.given(IPPolicy, "office");
    remark(IPPolicy, object, THEIRS);
    await scene.resync(IPPolicy);
    await scene.deleteAndSettle(object);
    expect(calls().filter((call) => call.startsWith("delete"))).toEqual([]);
    expect(remotes()).toHaveLength(1);
  });
});

describe.each([
  ["leave out marks", ["metadata"], 1],
  ["show marks", [], 0],
])("where lists %s, a remote that moved, and whose first object came back from a backup", (_, unlisted, reads) => {
  let [old, next]: ManagedObject[] = [];

  beforeEach(async () => {
    scene = new Scene();
    for (const member of unlisted) scene.gateway.unlisted.add(member);
    old = await scene.given(IPPolicy, "old", { description: "old" });
    const adopt = { id: scene.idOf(old), from: "team-a/old" };
    scene.cluster.annotateByHand(old, annotations.releaseTo, "team-a/next");
    next = await scene.apply(IPPolicy, "next", { description: "next", adopt });
    await scene.settle(next);
    scene.cluster.restore(old);
    scene.restart();
    scene.resetCounts();
  });

  const both = () => [old, next] as [ManagedObject, ManagedObject];

  it("is had by the object that it is marked for, whichever is looked at first", async () => {
    const [before, now] = both();
    for (const object of [before, now, before]) await scene.reconcile(object);
    expect(scene.reason(before)).toBe(
      `OwnershipConflict: Delete this object, or ask for a release by IPPolicy team-a/next, which has ${scene.idOf(now)}`,
    );
    expect(scene.reason(now)).toMatch(/^Available: /);
    expect(scene.gateway.takeCalls()).toEqual(["list", ...Array(reads).fill(`get ${scene.idOf(now)}`)]);
  });

  it("stays when the object from the backup is deleted", async () => {
    const [before, now] = both();
    await scene.deleteAndSettle(before);
    await scene.settle(now);
    expect(scene.cluster.get("IPPolicy", "team-a", "old")).toBeUndefined();
    expect(scene.reason(now)).toMatch(/^Available: /);
    expect(calls()).toEqual(Array(reads).fill(`get ${scene.idOf(now)}`));
  });
});

it("a status is not written anew because a list after a restart does not show whose the remote is", async () => {
  const objects = [await scene.given(IPPolicy, "marked"), await scene.given(IPPolicy, "not", { metadata: "opaque" })];
  const owners = () => objects.map((one) => scene.cluster.now(one).status?.owner);
  expect(owners()).toEqual([undefined, "c1/team-a/not"]);
  scene.restart();
  scene.resetCounts();
  for (const object of objects) await scene.reconcile(object);
  expect(owners()).toEqual([undefined, "c1/team-a/not"]);
  expect(scene.cluster.writes).toEqual([]);
  expect(calls()).toEqual(["get ipp_1", "get ipp_2"]);
});

it("an object that has only observed takes nothing that is marked for another cluster, nor what is not its own", async () => {
  const { id } = scene.gateway.seed(IPPolicy.resource, { metadata: THEIRS });
  const object = await scene.given(IPPolicy, "office", { adopt: { id }, managementPolicy: "ObserveOnly" });
  scene.restart();
  scene.cluster.apply(IPPolicy, "office", { adopt: { id } });
  await scene.settle(object);
  expect(scene.reason(object)).toMatch(/^OwnershipConflict: Ask the owner/);
  expect(calls().filter((call) => !call.startsWith("get"))).toEqual([]);
});

it("what has expired is not made again for an object whose remote another cluster has marked", async () => {
  const spec = { sshCertificateAuthorityId: "sshca_1", principals: ["a"] };
  const object = await scene.given(SSHHostCertificate, "host", spec);
  const validUntil = new Date(scene.clock.date().getTime() + 1000).toISOString();
  scene.gateway.change(SSHHostCertificate.resource, scene.idOf(object), { metadata: THEIRS, valid_until: validUntil });
  scene.restart();
  await scene.clock.advance(2000);
  await scene.settle(object, 3);
  expect(scene.reason(object)).toMatch(/^OwnershipConflict: /);
  expect(remotes(SSHHostCertificate)).toHaveLength(1);
});

describe("requests", () => {
  it("are one GET and the mark for an adoption by id, without a list", async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, {});
    scene.restart();
    const object = await scene.apply(IPPolicy, "office", { adopt: { id } });
    expect(scene.gateway.takeCalls()).toEqual([`get ${id}`, `update ${id}`]);
    expect(scene.reason(object)).toMatch(/^Available/);
  });

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
    await scene.resync(IPPolicy, object);
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

  it("are sent beyond 20 where the listed remote of one object shows that lists leave marks out", async () => {
    const gone = await scene.given(IPPolicy, "gone");
    const settled = await scene.given(IPPolicy, "settled");
    const another = await scene.given(IPPolicy, "another");
    scene.gateway.normalise = ({ id, ...members }) => ({
      ...Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)),
      id,
    });
    const { id } = scene.gateway.seed(IPPolicy.resource, { metadata: OURS });
    for (let count = 0; count < 50; count += 1) scene.gateway.seed(IPPolicy.resource, {});
    scene.gateway.drop(IPPolicy.resource, scene.idOf(gone));
    scene.restart();
    const object = scene.cluster.apply(IPPolicy, "office");
    await scene.settle(object);
    expect(scene.idOf(object)).toBe(id);
    const known = [gone, settled, another].map((one) => `get ${scene.idOf(one)}`);
    expect(calls().filter((call) => known.includes(call))).toEqual([`get ${scene.idOf(settled)}`]);
    await scene.apply(IPPolicy, "home");
    expect(calls()).toEqual(["create"]);
  });

  it("are none for a settled object, and one more for its change", async () => {
    const object = await scene.given(TCPEdge, "office", { description: "first" });
    for (let count = 0; count < 2; count += 1) {
      await scene.resync(TCPEdge, object);
    }
    expect(calls()).toEqual([]);
    await scene.apply(TCPEdge, "office", { description: "second" });
    expect(calls()).toEqual([`get ${scene.idOf(object)}`, `update ${scene.idOf(object)}`]);
  });
});
