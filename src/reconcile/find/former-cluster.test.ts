import { beforeEach, describe, expect, it } from "vitest";
import { ownerIn } from "../../../test/fakes/reconcile/owner-in.ts";
import { Scene, type SceneOptions } from "../../../test/fakes/reconcile/scene.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { ownerMark } from "../../objects/ownership.ts";
import { OWNER_KEY } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";

// A cluster was lost and is rebuilt from Git: the same namespaces and names, without statuses. It has another id, since
// nobody has set one.

const labels = { app: "web" };
const kinds: [string, Kind, ManagedObject["spec"]][] = [
  ["an IP policy", IPPolicy, { description: "office" }],
  ["a tunnel group", TunnelGroupBackend, { labels }],
  ["a domain", ReservedDomain, { domain: "a.example.com" }],
];

let blue: Scene;

beforeEach(() => {
  blue = new Scene({ clusterID: "blue" });
});

const rebuilt = (options: SceneOptions = {}) =>
  new Scene({ beside: blue, clusterID: "green", isClusterIDSet: false, ...options });
const markOf = (kind: Kind, id: string) => ownerIn(blue.gateway.remote(kind.resource, id) ?? {});
const mark = (cluster: string, name = "one") => ownerMark({ cluster, namespace: "team-a", name });

describe.each(kinds)("%s from before the cluster was rebuilt", (_, kind, spec) => {
  it("is not created a second time before a person declares the former cluster", async () => {
    const id = blue.idOf(await blue.given(kind, "one", spec));
    const green = rebuilt();
    const object = await green.apply(kind, "one", spec);
    expect(green.gateway.remotesOf(kind.resource).map((remote) => remote.id)).toEqual([id]);
    expect(green.reason(object)).toBe(
      `OwnershipConflict: Set formerClusterIDs: ["blue"] if that was this cluster, or clusterID: "green" if it is another one: ${id} belongs to blue/team-a/one`,
    );
    expect(green.condition(object, "Stalled")?.status).toBe("True");
    expect(markOf(kind, id)).toBe(mark("blue"));
  });

  it("is adopted and gets a new mark when blue is declared as a former id, and then costs nothing", async () => {
    const id = blue.idOf(await blue.given(kind, "one", spec));
    const green = rebuilt({ formerClusterIDs: ["red", "blue"] });
    const object = await green.given(kind, "one", spec);
    expect(green.idOf(object)).toBe(id);
    expect(markOf(kind, id)).toBe(mark("green"));
    expect(green.cluster.now(object).status?.origin).toBe("Created");
    expect(green.gateway.remotesOf(kind.resource)).toHaveLength(1);
    await green.reconcile(object);
    expect(green.gateway.takeCalls()).toEqual([]);
    expect(green.cluster.writes).toEqual([]);
  });

  it("gets a new mark when the cluster only got another id, and the former process writes nothing more", async () => {
    const object = await blue.given(kind, "one", spec);
    const id = blue.idOf(object);
    const green = rebuilt({ formerClusterIDs: ["blue"] });
    await green.given(kind, "one", spec);
    blue.cluster.apply(kind, "one", { ...spec, description: "of blue" });
    await blue.resync(kind, object);
    expect(blue.reason(object)).toMatch(/^OwnershipConflict: .* it belongs to green\/team-a\/one/);
    expect(green.gateway.remote(kind.resource, id)?.["description"]).not.toBe("of blue");
  });
});

describe.each(["Correct", "Report"] as const)(
  "with driftPolicy: %s, a remote whose object was here all the time",
  (driftPolicy) => {
    it.each([
      ["has its status", () => {}],
      ["has lost its status", (object: ManagedObject) => blue.cluster.loseStatus(object)],
    ] as const)("and %s, gets the new mark without any edit, and nothing is called drift", async (_, prepare) => {
      const object = await blue.given(IPPolicy, "one", { driftPolicy });
      blue.changeClusterID("green");
      prepare(object);
      blue.resetCounts();
      await blue.settle(object);
      expect(markOf(IPPolicy, blue.idOf(object))).toBe(mark("green"));
      expect(blue.cluster.now(object).status?.drift).toBeUndefined();
      expect(blue.cluster.events.filter(({ reason }) => /drift|differ/i.test(reason))).toEqual([]);
      blue.resetCounts();
      await blue.reconcile(object);
      expect(blue.gateway.takeCalls()).toEqual([]);
    });
  },
);

it("the new mark is written beside drift that is only reported, and the drift stays", async () => {
  const object = await blue.given(IPPolicy, "one", { description: "office", driftPolicy: "Report" });
  const id = blue.idOf(object);
  blue.changeClusterID("green");
  const metadata = JSON.stringify({ team: "shop", "tunnelgateway.dev/owner": mark("blue") });
  blue.gateway.change(IPPolicy.resource, id, { description: "by hand", metadata });
  await blue.resync(IPPolicy, object);
  expect(blue.gateway.remote(IPPolicy.resource, id)).toMatchObject({
    description: "by hand",
    metadata: expect.stringContaining(`{"team":"shop","tunnelgateway.dev/owner":"${mark("green")}#`),
  });
  expect(blue.cluster.now(object).status?.drift).toEqual(["description"]);
});

describe("a cluster whose id a person has set", () => {
  it("creates a remote although another cluster has one for the same name", async () => {
    const theirs = blue.idOf(await blue.given(IPPolicy, "one"));
    const green = rebuilt({ isClusterIDSet: true });
    const object = await green.given(IPPolicy, "one");
    expect(green.idOf(object)).not.toBe(theirs);
    expect(markOf(IPPolicy, theirs)).toBe(mark("blue"));
  });
});

describe("the marks of an unknown cluster", () => {
  it("block no object of another name, and none with other immutable values", async () => {
    await blue.given(IPPolicy, "one");
    await blue.given(ReservedDomain, "one", { domain: "a.example.com" });
    const green = rebuilt();
    await green.given(IPPolicy, "two");
    await green.given(ReservedDomain, "one", { domain: "b.example.com" });
  });

  it.each(["/team-a/one", "my cluster/team-a/one", "clüster/team-a/one", "//team-a/one"])(
    "block no create if no operator can have written them: %j",
    async (forged) => {
      const metadata = JSON.stringify({ [OWNER_KEY]: forged });
      const { id } = blue.gateway.seed(IPPolicy.resource, { metadata });
      const green = rebuilt();
      const object = await green.given(IPPolicy, "one");
      expect(green.idOf(object)).not.toBe(id);
      await green.delete(object);
      expect(markOf(IPPolicy, id)).toBe(forged);
    },
  );

  it("keep a name in the account, and the message tells of a text that no operator can have written", async () => {
    const metadata = JSON.stringify({ [OWNER_KEY]: "/team-a/one" });
    const { id } = blue.gateway.seed(ReservedDomain.resource, { domain: "a.example.com", metadata });
    const green = rebuilt();
    const object = await green.apply(ReservedDomain, "one", { domain: "a.example.com", adopt: { existing: true } });
    expect(green.reason(object)).toBe(
      `OwnershipConflict: Ask who wrote it to take the owner mark out of the metadata of ${id} first: "/team-a/one" names no object`,
    );
    expect(markOf(ReservedDomain, id)).toBe("/team-a/one");
  });

  it("block no object that has its remote already", async () => {
    const green = rebuilt();
    const object = await green.given(IPPolicy, "one");
    await blue.given(IPPolicy, "one");
    await green.resync(IPPolicy);
    await green.apply(IPPolicy, "one", { description: "edited" });
    expect(green.reason(object)).toMatch(/^Available: /);
  });

  it("count: a remote with one is neither adopted nor deleted, and the message says how to declare the former cluster", async () => {
    const id = blue.idOf(await blue.given(IPPolicy, "one"));
    const green = rebuilt();
    const object = await green.apply(IPPolicy, "two", { adopt: { id }, deletionPolicy: "Delete" });
    expect(green.reason(object)).toBe(
      `OwnershipConflict: Ask the owner to take its mark out of the metadata of ${id} first: it belongs to blue/team-a/one (if blue was this cluster: add it to formerClusterIDs)`,
    );
    green.cluster.delete(object);
    if (green.cluster.exists(object)) await green.settle(object);
    expect(markOf(IPPolicy, id)).toBe(mark("blue"));
  });
});

describe("a remote that one cluster has retained", () => {
  const retainRemote = async (): Promise<string> => {
    const object = await blue.given(IPPolicy, "one", { deletionPolicy: "Retain" });
    const id = blue.idOf(object);
    await blue.delete(object);
    expect(blue.cluster.exists(object)).toBe(false);
    return id;
  };
  const green = () => rebuilt({ isClusterIDSet: true });
  const removeMark = (id: string) => blue.gateway.change(IPPolicy.resource, id, { metadata: "" });

  it("is adopted by another cluster after a person has removed the mark, under any name", async () => {
    const id = await retainRemote();
    const other = green();
    const object = await other.apply(IPPolicy, "two", { adopt: { id } });
    expect(other.reason(object)).toMatch(/^OwnershipConflict: Ask the owner to take its mark out of the metadata of /);
    removeMark(id);
    await other.settle(object);
    expect(other.reason(object)).toMatch(/^Available: /);
    expect(markOf(IPPolicy, id)).toBe(mark("green", "two"));
  });

  it("is adopted by the first cluster by its id, if no other has adopted it", async () => {
    const id = await retainRemote();
    removeMark(id);
    const object = await blue.given(IPPolicy, "one", { adopt: { id } });
    expect(blue.idOf(object)).toBe(id);
    expect(markOf(IPPolicy, id)).toBe(mark("blue"));
  });
});

describe("a mark of a former cluster", () => {
  it("belongs to the object with the same name, and no other adopts it before that object is known to be deleted", async () => {
    const id = blue.idOf(await blue.given(IPPolicy, "one"));
    const green = rebuilt({ formerClusterIDs: ["blue"] });
    green.cluster.delete(green.cluster.apply(IPPolicy, "one"));
    green.cluster.knowsEnds = false;
    const object = await green.apply(IPPolicy, "two", { adopt: { id } });
    expect(green.reason(object)).toMatch(/^OwnershipConflict: /);
    green.cluster.knowsEnds = true;
    await green.settle(object);
    expect(green.idOf(object)).toBe(id);
    expect(markOf(IPPolicy, id)).toBe(mark("green", "two"));
  });

  it("lets an object whose status was lost find its remote", async () => {
    const id = blue.idOf(await blue.given(IPPolicy, "one"));
    const green = rebuilt({ formerClusterIDs: ["blue"] });
    green.mayAdopt = false;
    const object = await green.given(IPPolicy, "one", { adopt: { id } });
    expect(green.idOf(object)).toBe(id);
  });
});
