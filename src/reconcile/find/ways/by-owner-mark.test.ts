import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../../test/fakes/reconcile/scene.ts";
import { IPPolicy } from "../../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../../kinds/reserved-domain.ts";
import { SSHCredential } from "../../../kinds/ssh-credential.ts";
import type { ManagedObject } from "../../../objects/object.ts";
import { withOwnerMark } from "../../../objects/ownership.ts";
import { Retry } from "../../../objects/reconcile-error.ts";
import { annotations } from "../../../schema/contract.ts";
import type { Kind } from "../../../schema/define.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const kinds: [string, Kind, ManagedObject["spec"]][] = [
  ["its owner mark", IPPolicy, { description: "office" }],
  ["its name and mark", ReservedDomain, { domain: "a.example.com" }],
];

const creates = () => scene.gateway.takeCalls().filter((call) => call === "create");

async function deleteAndExpectGone(object: ManagedObject): Promise<void> {
  await scene.delete(object);
  expect(scene.cluster.exists(object)).toBe(false);
  scene.resetCounts();
}

describe.each(kinds)(
  "while the row of a remote with the object's mark cannot be read, which is found by %s,",
  (_, kind, spec) => {
    const remotes = () => scene.gateway.remotesOf(kind.resource);

    async function expectFoundOnceReadable(object: ManagedObject): Promise<void> {
      await scene.settle(object, 8);
      const [id = ""] = remotes().map((one) => one.id);
      expect(scene.reason(object)).toMatch(
        `GET ${kind.resource.path}: the row of ${id} cannot be read, and its owner mark names an object of this name`,
      );
      scene.gateway.unreadable.clear();
      await scene.resync(kind);
      await scene.settle(object, 8);
      expect(scene.idOf(object)).toBe(id);
      expect(remotes()).toHaveLength(1);
    }

    it.each([
      ["the same", () => {}],
      ["another", () => scene.restart()],
    ])("a create whose answer was lost is not sent again, by %s process", async (_when, meanwhile) => {
      scene.gateway.loseAnswer("create");
      const object = await scene.apply(kind, "one", spec);
      for (const { id } of remotes()) scene.gateway.unreadable.add(id);
      meanwhile();
      await expectFoundOnceReadable(object);
    });

    it("a new object of the same name creates none beside what was retained", async () => {
      const before = await scene.given(kind, "one", { ...spec, deletionPolicy: "Retain" });
      scene.gateway.unreadable.add(scene.idOf(before));
      await deleteAndExpectGone(before);
      scene.restart();
      await expectFoundOnceReadable(await scene.apply(kind, "one", spec));
    });

    it("an object of another name is created", async () => {
      const before = await scene.given(kind, "one", { ...spec, deletionPolicy: "Retain" });
      scene.gateway.unreadable.add(scene.idOf(before));
      const other = kind.naturalKey ? { ...spec, domain: "b.example.com" } : spec;
      expect(scene.reason(await scene.apply(kind, "two", other))).toMatch(/^(Available|CertificateProvisioning)/);
    });
  },
);

describe.each(kinds)("a new object of the same name, with a former remote that is found by %s", (_, kind, spec) => {
  it.each([
    ["in the same process", () => {}],
    ["in another process", () => scene.restart()],
  ])("adopts it when it was retained, %s", async (_when, meanwhile) => {
    const before = await scene.given(kind, "one", { ...spec, deletionPolicy: "Retain" });
    const id = scene.idOf(before);
    await deleteAndExpectGone(before);
    meanwhile();
    const after = await scene.apply(kind, "one", spec);
    expect(creates()).toEqual([]);
    expect(scene.idOf(after)).toBe(id);
    expect(scene.condition(after, "Ready")?.status).toBe("True");
    expect(scene.cluster.events).toMatchObject([{ note: `Took over ${id}` }]);
  });

  it("adopts it when it was retained before its create was known to have succeeded", async () => {
    const retained = { ...spec, deletionPolicy: "Retain" } as const;
    scene.gateway.swallow("create");
    const before = await scene.apply(kind, "one", retained);
    const { body = {} } = scene.gateway.calls.find(({ verb }) => verb === "create") ?? {};
    scene.cluster.delete(before);
    const callCount = scene.gateway.calls.length;
    await scene.reconcile(before);
    expect(scene.reason(before)).toMatch(/^Creating: /);
    const { id } = scene.gateway.seed(kind.resource, body);
    await scene.settle(before);
    expect(scene.gateway.calls.length).toBe(callCount);
    expect(scene.cluster.exists(before)).toBe(false);
    const after = await scene.apply(kind, "one", retained);
    expect(scene.idOf(after)).toBe(id);
  });

  it("adopts it when it was released with the orphan annotation", async () => {
    const before = await scene.given(kind, "one", spec);
    const id = scene.idOf(before);
    scene.cluster.annotateByHand(before, annotations.orphan, "true");
    await deleteAndExpectGone(before);
    const after = await scene.apply(kind, "one", spec);
    expect(scene.idOf(after)).toBe(id);
    expect(scene.gateway.remotesOf(kind.resource)).toHaveLength(1);
  });

  it("adopts it when a backup restored only the spec", async () => {
    const before = await scene.given(kind, "one", spec);
    scene.cluster.apply(kind, "one", spec, { annotations: {}, finalizers: [] });
    scene.cluster.loseStatus(before);
    scene.restart();
    await scene.reconcile(before);
    expect(scene.gateway.remotesOf(kind.resource).map(({ id }) => id)).toEqual([scene.idOf(before)]);
  });

  it("leaves it when the status was lost: nothing tells it from what was retained", async () => {
    const before = await scene.given(kind, "one", { ...spec, deletionPolicy: "Retain" });
    await deleteAndExpectGone(before);
    const after = await scene.given(kind, "one", spec);
    scene.cluster.loseStatus(after);
    scene.restart();
    await scene.deleteAndSettle(after);
    expect(scene.cluster.exists(after)).toBe(false);
    expect(scene.gateway.remotesOf(kind.resource)).toHaveLength(1);
  });

  it("records no id before the finalizer is set", async () => {
    await deleteAndExpectGone(await scene.given(kind, "one", { ...spec, deletionPolicy: "Retain" }));
    const after = scene.cluster.apply(kind, "one", spec);
    scene.cluster.beforeWrite = (write) => {
      if (write === "annotate") throw new Retry("Pending", "Waiting for the Kubernetes API");
    };
    await scene.reconcile(after);
    expect(scene.reason(after)).toMatch(/^Pending/);
    expect(scene.idOf(after)).toBe("");
  });

  it("does not adopt it when it was deleted meanwhile", async () => {
    const before = await scene.given(kind, "one", { ...spec, deletionPolicy: "Retain" });
    const id = scene.idOf(before);
    await deleteAndExpectGone(before);
    scene.gateway.drop(kind.resource, id);
    const after = await scene.apply(kind, "one", spec);
    expect(creates()).toEqual(["create"]);
    expect(scene.condition(after, "Ready")?.status).toBe("True");
  });

  it("does not adopt it when another object has it", async () => {
    const before = await scene.given(kind, "one", { ...spec, deletionPolicy: "Retain" });
    const id = scene.idOf(before);
    await deleteAndExpectGone(before);
    const other = scene.cluster.apply(kind, "two", spec);
    await scene.cluster.writeStatus(kind, other, { id });
    const after = await scene.apply(kind, "one", spec);
    expect(scene.idOf(after)).not.toBe(id);
  });

  it("does not delete it without having adopted it", async () => {
    const before = await scene.given(kind, "one", { ...spec, deletionPolicy: "Retain" });
    const id = scene.idOf(before);
    await deleteAndExpectGone(before);
    scene.gateway.refuse("list", 403);
    scene.restart();
    const after = await scene.apply(kind, "one", spec);
    scene.cluster.delete(after);
    expect(scene.cluster.exists(after)).toBe(false);
    expect(scene.gateway.remotesOf(kind.resource)).toMatchObject([{ id }]);
  });
});

it("a remote that somebody has marked for another cluster since the list is not adopted", async () => {
  const before = await scene.given(IPPolicy, "one", { deletionPolicy: "Retain" });
  const id = scene.idOf(before);
  await deleteAndExpectGone(before);
  const metadata = withOwnerMark(undefined, { cluster: "c2", namespace: "team-a", name: "one" });
  scene.gateway.change(IPPolicy.resource, id, { metadata });
  const after = await scene.apply(IPPolicy, "one", {});
  expect(scene.gateway.takeCalls()).toEqual([`get ${id}`, "create"]);
  expect(scene.idOf(after)).not.toBe(id);
});

it("a natural key that is taken by a remote with the object's mark leads to its adoption", async () => {
  const spec = { domain: "a.example.com" };
  await scene.given(ReservedDomain, "other", { domain: "b.example.com" });
  const metadata = withOwnerMark(undefined, { cluster: "c1", namespace: "team-a", name: "web" });
  const { id } = scene.gateway.seed(ReservedDomain.resource, { ...spec, metadata });
  const object = await scene.apply(ReservedDomain, "web", spec);
  expect(scene.idOf(object)).toBe(id);
  expect(scene.condition(object, "Ready")?.status).toBe("True");
});

it("a remote with other immutable values is left, and a new one is created", async () => {
  const spec = { publicKey: "ssh-ed25519 AAAAone" };
  const before = await scene.given(SSHCredential, "one", { ...spec, deletionPolicy: "Retain" });
  const id = scene.idOf(before);
  await deleteAndExpectGone(before);
  const after = await scene.apply(SSHCredential, "one", { publicKey: "ssh-ed25519 AAAAtwo" });
  expect(scene.condition(after, "Ready")?.status).toBe("True");
  expect(scene.idOf(after)).not.toBe(id);
  expect(scene.gateway.remotesOf(SSHCredential.resource)).toHaveLength(2);
});

describe("several remotes with the owner mark of one object", () => {
  const metadata = withOwnerMark(undefined, { cluster: "c1", namespace: "team-a", name: "office" });

  it("are reported, and the oldest is adopted", async () => {
    const object = await scene.given(IPPolicy, "office");
    const id = scene.idOf(object);
    await scene.clock.advance(1000);
    const younger = [1, 2].map(() => scene.gateway.seed(IPPolicy.resource, { metadata }).id);
    scene.cluster.loseStatus(object);
    scene.restart();
    await scene.reconcile(object);
    expect(scene.idOf(object)).toBe(id);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(3);
    const [reported] = scene.cluster.events;
    expect(reported).toMatchObject({ type: "Warning", reason: "OwnershipConflict" });
    for (const duplicate of younger) expect(reported?.note).toContain(duplicate);
  });

  it("are not deleted with an object whose create failed", async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, { metadata });
    await scene.clock.advance(60 * 60_000);
    scene.gateway.refuse("get", 404);
    scene.gateway.swallow("create");
    const object = await scene.apply(IPPolicy, "office");
    await scene.deleteAndSettle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toMatchObject([{ id }]);
  });
});
