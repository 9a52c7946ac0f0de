import { beforeEach, describe, expect, it, vi } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { EventDestination } from "../../kinds/event-destination.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { withOwnerMark } from "../../objects/ownership.ts";
import { Outdated, Waiting } from "../../objects/reconcile-error.ts";
import { annotations, FINALIZER } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import { reconcile } from "../reconcile.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

/** The spec of an edge that refers to these policies. */
const restricted = (...names: string[]) => ({
  ipRestriction: { enabled: true, ipPolicyRefs: names.map((name) => ({ name })) },
});

async function deleted(object: ManagedObject): Promise<ReturnType<Scene["reconcile"]>> {
  scene.cluster.delete(object);
  return scene.reconcile(object);
}

describe("a deletion while a create is open", () => {
  const domain = "a.example.com";

  it.each<[string, ManagedObject["spec"], (id: string) => ManagedObject["spec"]]>([
    ["by its name", { domain, adopt: { existing: true } }, () => ({ domain, adopt: { existing: true } })],
    ["by an id that came later", { domain }, (id) => ({ domain, adopt: { id } })],
  ])("takes over and deletes no remote of others %s", async (_, spec, later) => {
    scene.gateway.swallow("create");
    const object = await scene.apply(ReservedDomain, "web", spec);
    const { id } = scene.gateway.seed(ReservedDomain.resource, { domain });
    scene.cluster.apply(ReservedDomain, "web", later(id));
    await scene.deleteAndSettle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.gateway.remote(ReservedDomain.resource, id)).toBeDefined();
  });
});

describe("a deletion", () => {
  it("sends one DELETE and takes the finalizer off", async () => {
    const object = await scene.given(ReservedDomain, "web", { domain: "a.example.com" });
    expect(await deleted(object)).toEqual({});
    expect(scene.gateway.takeCalls()).toEqual(["delete rd_1"]);
    expect(scene.cluster.writes).toEqual(["removeFinalizer"]);
    expect(scene.cluster.exists(object)).toBe(false);
  });

  it("counts a 404 as deleted", async () => {
    const object = await scene.given(IPPolicy, "office");
    scene.gateway.drop(IPPolicy.resource, "ipp_1");
    await deleted(object);
    expect(scene.cluster.exists(object)).toBe(false);
  });

  it("is not sent when the object came to belong to another account while the request waited", async () => {
    const object = await scene.given(ReservedDomain, "web", { domain: "a.example.com" });
    scene.cluster.delete(object);
    const { account } = scene;
    let isOther = false;
    const context = Object.defineProperty({ ...scene.contextFor(object) }, "account", {
      get() {
        if (isOther) throw new Outdated("another account");
        return account;
      },
    });
    vi.spyOn(account.turns, "acquire").mockImplementation(async () => {
      isOther = true;
    });
    expect(await reconcile(context, { resyncSeconds: 300 })).toEqual({ stale: true });
    expect(scene.gateway.takeCalls()).toEqual([]);
    expect(scene.cluster.exists(object)).toBe(true);
  });

  it("keeps the finalizers of other controllers, and waits for them", async () => {
    const object = await scene.given(IPPolicy, "office");
    const finalizers = [...(object.metadata.finalizers ?? []), "example.com/other"];
    scene.cluster.apply(IPPolicy, "office", object.spec, { finalizers });
    await deleted(object);
    expect(scene.cluster.now(object).metadata.finalizers).toEqual(["example.com/other"]);
    scene.resetCounts();
    expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: 1800 });
    expect(scene.reason(object)).toMatch(/^Deleting: .*example.com\/other/);
    expect(scene.gateway.takeCalls()).toEqual([]);
    scene.resetCounts();
    await scene.reconcile(object);
    expect(scene.cluster.writes).toEqual([]);
  });

  // Guards against remotes that are left for ever because they could not be deleted for some days.
  it("is repeated for as long as it fails", async () => {
    const object = await scene.given(IPPolicy, "office");
    scene.cluster.delete(object);
    for (let count = 0; count < 200; count += 1) {
      scene.gateway.refuse("delete", [500, 503, 409, 403, 400][count % 5] as number);
      const result = await scene.reconcile(object);
      expect(result).not.toEqual({});
      expect(scene.cluster.now(object).metadata.finalizers).toHaveLength(1);
      await scene.clock.advance(1800_000);
    }
    await scene.settle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
  });

  it("continues after an outage", async () => {
    const object = await scene.given(IPPolicy, "office");
    scene.gateway.refuse("delete", 503);
    expect(await deleted(object)).toEqual({
      requeueAfterSeconds: expect.toSatisfy((seconds: number) => seconds <= 1.2),
    });
    expect(scene.reason(object)).toMatch(/^ServiceUnavailable: /);
    await scene.reconcile(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
  });

  it.each([402, 410, 418, 423])("is repeated after a refusal with %i", async (status) => {
    const object = await scene.given(IPPolicy, "office");
    scene.cluster.delete(object);
    for (let count = 0; count < 5; count += 1) {
      scene.gateway.refuse("delete", status, { serviceMessage: "not today" });
      expect(await scene.reconcile(object)).toEqual({
        requeueAfterSeconds: expect.toSatisfy((seconds: number) => seconds <= 18),
      });
      expect(scene.reason(object)).toMatch(/^UnexpectedResponse: .*not today/);
      expect(scene.condition(object, "Stalled")).toBeUndefined();
      await scene.clock.advance(18_000);
    }
    await scene.reconcile(object);
    expect(scene.cluster.exists(object)).toBe(false);
  });

  it("names the missing permission after a refusal with 403", async () => {
    const object = await scene.given(IPPolicy, "office");
    scene.gateway.refuse("delete", 403, { serviceMessage: "not allowed" });
    await deleted(object);
    expect(scene.reason(object)).toBe(
      "Forbidden: Give the API key's owner the permission, or use another key: not allowed",
    );
  });

  it("continues after its answer was lost", async () => {
    const object = await scene.given(IPPolicy, "office");
    scene.gateway.loseAnswer("delete");
    await deleted(object);
    await scene.reconcile(object);
    expect(scene.cluster.exists(object)).toBe(false);
  });

  it("waits while the object is paused", async () => {
    const object = await scene.given(IPPolicy, "office");
    scene.cluster.annotateByHand(object, annotations.paused, "true");
    expect(await deleted(object)).toEqual({});
    expect(scene.gateway.takeCalls()).toEqual([]);
    expect(scene.cluster.exists(object)).toBe(true);
  });

  it("reports foreign finalizers of an object without its own", async () => {
    const object = scene.cluster.apply(IPPolicy, "office", {}, { finalizers: ["example.com/other"] });
    await deleted(object);
    expect(scene.gateway.takeCalls()).toEqual([]);
    expect(scene.cluster.writes).toEqual(["writeStatus"]);
    expect(scene.cluster.now(object).metadata.finalizers).toEqual(["example.com/other"]);
  });

  it("reads no Secret and needs no references", async () => {
    scene.cluster.setSecret("dd", { api: "key" });
    const destination = await scene.given(EventDestination, "dd", {
      target: { monitoring: { apiKeyRef: { name: "dd", key: "api" } } },
    });
    scene.cluster.apply(EventDestination, "dd", { target: { monitoring: { apiKeyRef: { name: "no", key: "no" } } } });
    await deleted(destination);
    expect(scene.cluster.exists(destination)).toBe(false);
    expect(scene.cluster.secretReads).toEqual([]);

    const edge = await scene.given(TCPEdge, "db");
    scene.cluster.apply(TCPEdge, "db", restricted("no"));
    await deleted(edge);
    expect(scene.cluster.exists(edge)).toBe(false);
  });
});

describe("a remote that stays in the account", () => {
  it.each<[string, ManagedObject["spec"]]>([
    ["the spec has deletionPolicy: Retain", { deletionPolicy: "Retain" }],
    ["the spec has managementPolicy: ObserveOnly", { managementPolicy: "ObserveOnly" }],
  ])("stays when %s", async (_, spec) => {
    const object = await scene.given(IPPolicy, "office");
    scene.cluster.apply(IPPolicy, "office", spec);
    await deleted(object);
    expect(scene.gateway.takeCalls()).toEqual([]);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
  });

  it.each([
    ["stays when it was adopted", {}, 1],
    [
      "is deleted when it was adopted and the spec has deletionPolicy: Delete",
      { deletionPolicy: "Delete" as const },
      0,
    ],
  ])("%s", async (_, more, left) => {
    const { id } = scene.gateway.seed(IPPolicy.resource, {});
    const object = await scene.given(IPPolicy, "office", { adopt: { id }, ...more });
    await deleted(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(left);
  });

  it("does not block its object when there is no account", async () => {
    const object = await scene.given(IPPolicy, "office", { deletionPolicy: "Retain" });
    scene.cluster.delete(object);
    const context = Object.defineProperty(scene.contextFor(object), "account", {
      get: () => {
        throw new Waiting("AccountNotReady", "Create GatewayAccount");
      },
    });
    await reconcile(context, { resyncSeconds: 300 });
    expect(scene.cluster.exists(object)).toBe(false);
  });

  it("stays when the object has the orphan annotation", async () => {
    const object = await scene.given(IPPolicy, "office");
    scene.cluster.annotateByHand(object, annotations.orphan, "true");
    await deleted(object);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
    expect(scene.cluster.exists(object)).toBe(false);
  });

  it("stays when its CustomResourceDefinition is being deleted", async () => {
    const object = await scene.given(IPPolicy, "office");
    scene.cluster.kindsDeleting.add("IPPolicy");
    await deleted(object);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
    expect(scene.cluster.exists(object)).toBe(false);
  });

  it("stays when it has the owner mark of another cluster", async () => {
    const object = await scene.given(IPPolicy, "office");
    scene.gateway.change(IPPolicy.resource, "ipp_1", { metadata: '{"tunnelgateway.dev/owner":"c2/n/o"}' });
    await scene.resync(IPPolicy);
    await deleted(object);
    expect(scene.reason(object)).toMatch(/^OwnershipConflict: /);
    expect(scene.gateway.takeCalls()).toEqual([]);
  });

  it("stays when another cluster has marked it while no operator was running", async () => {
    const object = await scene.given(IPPolicy, "office");
    const metadata = withOwnerMark(undefined, { cluster: "c2", namespace: "team-b", name: "office" });
    scene.gateway.change(IPPolicy.resource, "ipp_1", { metadata });
    scene.restart();
    await deleted(object);
    expect(scene.reason(object)).toMatch(/^OwnershipConflict: /);
    expect(scene.gateway.takeCalls()).toEqual(["list"]);
  });
});

it.each<[string, (gateway: Scene["gateway"]) => void, (gateway: Scene["gateway"]) => void]>([
  ["the service has an outage", (gateway) => gateway.loseAnswer("create"), (gateway) => gateway.refuse("list", 503)],
  ["a create may be under way", (gateway) => gateway.swallow("create"), () => {}],
])("in a namespace that is deleted, nothing is left in the account because %s", async (_, first, then) => {
  first(scene.gateway);
  const object = await scene.apply(IPPolicy, "office");
  scene.cluster.namespaceDeleting = true;
  scene.restart();
  then(scene.gateway);
  await deleted(object);
  expect(scene.cluster.exists(object)).toBe(true);
  await scene.settle(object, 5);
  expect([scene.cluster.exists(object), scene.gateway.remotesOf(IPPolicy.resource)]).toEqual([false, []]);
});

it("with the mark of another cluster stays when the namespace is deleted, and an event says so", async () => {
  const object = await scene.given(IPPolicy, "office");
  scene.gateway.change(IPPolicy.resource, "ipp_1", { metadata: '{"tunnelgateway.dev/owner":"c2/n/o"}' });
  scene.cluster.namespaceDeleting = true;
  await scene.resync(IPPolicy);
  await deleted(object);
  expect(scene.cluster.exists(object)).toBe(false);
  expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
  expect(scene.cluster.events).toContainEqual(
    expect.objectContaining({
      reason: "OwnershipConflict",
      note: expect.stringContaining("Left ipp_1 in the account"),
    }),
  );
});

describe("a deletion while the status has no id", () => {
  const kinds: [string, Kind, ManagedObject["spec"]][] = [
    ["its owner mark", IPPolicy, {}],
    ["its owner mark, which goes alone", ReservedDomain, { domain: "a.example.com", metadata: "opaque" }],
    ["its owner mark, although a spec leaves no room for it", IPPolicy, { description: "a", metadata: "opaque" }],
  ];

  it.each(kinds)("finds the remote by %s and deletes it", async (_, kind, spec) => {
    scene.gateway.loseAnswer("create");
    const object = await scene.apply(kind, "one", spec);
    scene.restart();
    await deleted(object);
    expect(scene.gateway.remotesOf(kind.resource)).toEqual([]);
    expect(scene.cluster.exists(object)).toBe(false);
  });

  it("waits until an interrupted create can no longer be carried out", async () => {
    scene.gateway.swallow("create");
    const object = await scene.apply(IPPolicy, "office");
    expect(await deleted(object)).toHaveProperty("requeueAfterSeconds");
    expect(scene.reason(object)).toMatch(/^Creating: /);
    await scene.settle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.gateway.takeCalls()).not.toContain("delete ipp_1");
  });

  it("does not need the references of the spec", async () => {
    const policy = await scene.given(IPPolicy, "office");
    scene.gateway.loseAnswer("create");
    const edge = await scene.apply(TCPEdge, "db", { metadata: "opaque", ...restricted("office") });
    scene.cluster.apply(IPPolicy, "office", { deletionPolicy: "Retain" });
    await deleted(policy);
    await deleted(edge);
    expect(scene.cluster.exists(edge)).toBe(false);
    expect(scene.gateway.remotesOf(TCPEdge.resource)).toEqual([]);
  });

  it("ends when no create was recorded and the account has nothing of the object", async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, {});
    const object = scene.cluster.apply(IPPolicy, "office", {}, { finalizers: [FINALIZER] });
    await scene.deleteAndSettle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.gateway.remote(IPPolicy.resource, id)).toBeDefined();
  });

  it("does not search for a create that was refused", async () => {
    scene.gateway.refuse("create", 400);
    const object = await scene.apply(IPPolicy, "office");
    expect(await deleted(object)).toEqual({});
    expect(scene.cluster.exists(object)).toBe(false);
  });
});

describe("a remote that others use", () => {
  it("waits while an object refers to it", async () => {
    const policy = await scene.given(IPPolicy, "office");
    await scene.given(TCPEdge, "db", restricted("office"));
    expect(await deleted(policy)).toEqual({ requeueAfterSeconds: 300 });
    expect(scene.reason(policy)).toMatch(/^InUse: .*TCPEdge "db"/);
    expect(scene.gateway.takeCalls()).toEqual([]);
    await scene.apply(TCPEdge, "db", restricted());
    await scene.reconcile(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
  });

  it.each([
    ["waits for its new reference", restricted("next"), 1],
    ["refers to it by id", { ipRestriction: { enabled: true, ipPolicyRefs: [{ id: "ipp_1" }] } }, 300],
  ])("waits while a remote still uses it, whose object %s", async (_, spec, requeueAfterSeconds) => {
    const policy = await scene.given(IPPolicy, "office");
    await scene.given(TCPEdge, "db", restricted("office"));
    await scene.apply(TCPEdge, "db", spec);
    for (const restart of [false, true]) {
      if (restart) scene.restart();
      expect(await deleted(policy)).toEqual({ requeueAfterSeconds });
      expect(scene.reason(policy)).toMatch(/^InUse: .*TCPEdge "db"/);
    }
    expect(scene.gateway.takeCalls()).not.toContain("delete ipp_1");
    await scene.given(IPPolicy, "next");
    await scene.apply(TCPEdge, "db", restricted("next"));
    await scene.reconcile(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
  });

  it.each([
    ["however long that takes", 3_600_000, 0],
    ["also where the calendar was set back", 61_000, -86_400_000],
    ["also where the calendar was set forward", 61_000, 86_400_000],
  ])("waits for referrers that are being deleted, %s", async (_, passing, setBy) => {
    const policy = await scene.given(IPPolicy, "office");
    const edge = await scene.given(TCPEdge, "db", restricted("office"));
    scene.cluster.delete(edge);
    await deleted(policy);
    expect(scene.reason(policy)).toMatch(/^Deleting: .*TCPEdge "db"/);
    scene.clock.setBy(setBy);
    await scene.clock.advance(passing);
    expect(await scene.reconcile(policy)).toHaveProperty("requeueAfterSeconds");
    expect(scene.gateway.takeCalls()).not.toContain("delete ipp_1");
    await scene.reconcile(edge);
    await scene.reconcile(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
  });

  it("names three referrers and counts the rest", async () => {
    const policy = await scene.given(IPPolicy, "office");
    for (const name of ["a", "b", "c", "d", "e"]) await scene.given(TCPEdge, name, restricted("office"));
    await deleted(policy);
    expect(scene.reason(policy)).toMatch(/"a", TCPEdge "b", TCPEdge "c" and 2 more/);
  });

  it.each([400, 409, 422])("reports InUse and tries again after a %i", async (status) => {
    const policy = await scene.given(IPPolicy, "office");
    scene.gateway.refuse("delete", status, { serviceMessage: "edge edgtcp_9 uses it" });
    await deleted(policy);
    expect(scene.reason(policy)).toMatch(/^InUse: .*edge edgtcp_9 uses it/);
    expect(scene.condition(policy, "Reconciling")?.status).toBe("True");
    await scene.reconcile(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
  });
});

describe("a remote that the service cannot delete", () => {
  it.each([405, 501])("blocks its object and is tried again after one %i, without asking a person", async (status) => {
    const object = await scene.given(IPPolicy, "office");
    scene.gateway.refuse("delete", status);
    expect(await deleted(object)).toEqual({ backoff: true, atLeastSeconds: 120 });
    expect(scene.reason(object)).toMatch(/^DeleteUnsupported: Waiting to try again, no action is needed yet/);
    expect(scene.condition(object, "Stalled")).toBeUndefined();
    await scene.clock.advance(120_000);
    await scene.reconcile(object);
    expect(scene.cluster.exists(object)).toBe(false);
  });

  it("blocks its object, and reports how to release it, once it is certain", async () => {
    const object = await scene.given(IPPolicy, "office");
    await scene.confirmLack(IPPolicy.resource, "delete");
    await deleted(object);
    expect(scene.condition(object, "Stalled")?.status).toBe("True");
    expect(scene.reason(object)).toMatch(/^DeleteUnsupported: .*ipp_1/);
    expect(scene.reason(object)).toContain(annotations.orphan);
    expect(scene.cluster.exists(object)).toBe(true);
    scene.cluster.annotateByHand(object, annotations.orphan, "true");
    await scene.reconcile(object);
    expect(scene.cluster.exists(object)).toBe(false);
  });

  it("does not block the deletion of a namespace", async () => {
    const object = await scene.given(IPPolicy, "office");
    scene.cluster.namespaceDeleting = true;
    scene.gateway.refuse("delete", 405);
    await deleted(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.cluster.events).toMatchObject([{ type: "Warning", reason: "DeleteUnsupported" }]);
  });
});

it("a namespace with many deletions does not delay the deletion of another", async () => {
  scene = new Scene({ deletesPerMinute: 6 });
  const many = Array.from({ length: 30 }, (_, index) => `many-${index}`);
  const objects = await Promise.all(many.map((name) => scene.given(IPPolicy, name)));
  const other = await scene.apply(IPPolicy, "other", {}, { namespace: "team-b" });
  for (const object of [...objects, other]) scene.cluster.delete(object);
  for (const object of objects) await scene.reconcile(object);
  expect(objects.filter(scene.cluster.exists, scene.cluster)).toHaveLength(24);
  expect(await scene.reconcile(other)).toEqual({ requeueAfterSeconds: 20 });
  await scene.clock.advance(20_000);
  await scene.reconcile(other);
  expect(scene.cluster.exists(other)).toBe(false);
});
