import { beforeEach, describe, expect, it } from "vitest";
import type { FakeGateway } from "../../../test/fakes/reconcile/fake-gateway.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedAddress } from "../../kinds/reserved-address.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import type { ManagedObject } from "../../objects/object.ts";

// A backup is restored with its statuses, in another cluster or under other names, and the account has the remotes of the
// original. Some have no owner mark, since their metadata have no room for one.

const opaque = { metadata: "a text of the user's" };

const copyTo = (other: Scene, object: ManagedObject, metadata: Partial<ManagedObject["metadata"]> = {}) => {
  const copy = { ...object, metadata: { ...object.metadata, uid: "copy", ...metadata } };
  other.cluster.restore(copy);
  return copy;
};

const changes = (scene: Scene) => scene.gateway.calls.filter(({ verb }) => verb !== "get" && verb !== "list");

describe.each([
  ["an IP policy", IPPolicy, opaque],
  ["a domain", ReservedDomain, { ...opaque, domain: "a.example.com" }],
])("the status of %s without a mark", (_, kind, spec) => {
  it("does not count in another cluster, until that cluster is configured as the successor", async () => {
    const blue = new Scene({ clusterID: "blue" });
    const object = await blue.given(kind, "one", spec);
    const id = blue.idOf(object);
    const green = new Scene({ beside: blue, clusterID: "green" });
    const copy = copyTo(green, object);
    await green.apply(kind, "one", { ...spec, description: "of green" });
    expect(green.reason(copy)).toBe(
      `OwnershipConflict: Create this object anew: its status was copied from blue/team-a/one, which has ${id} (if blue was this cluster: add it to formerClusterIDs)`,
    );
    await green.delete(copy);
    expect(changes(green)).toEqual([]);
    const continued = new Scene({ beside: blue, clusterID: "green", formerClusterIDs: ["blue"] });
    const same = copyTo(continued, object);
    await continued.settle(same, 2);
    expect(continued.reason(same)).toMatch(/^Available/);
    expect(continued.cluster.now(same).status?.owner).toBe("green/team-a/one");
  });

  it("does not count under another name, until the original was deleted", async () => {
    const scene = new Scene();
    const object = await scene.given(kind, "one", { ...spec, deletionPolicy: "Retain" });
    const older = { name: "two", creationTimestamp: "2025-01-01T00:00:00Z" };
    const copy = copyTo(scene, object, older);
    await scene.reconcile(copy);
    expect(scene.reason(copy)).toMatch(/^OwnershipConflict: .*team-a\/one/);
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^Available/);
    await scene.deleteAndSettle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    await scene.reconcile(copy);
    expect(scene.reason(copy)).toMatch(/^Available/);
    expect(changes(scene)).toEqual([]);
  });
});

describe("the copy of an object whose remote is gone", () => {
  const spec = { ...opaque, endpointConfigurationId: "ec_1" };
  let green: Scene;
  let copy: ManagedObject;

  beforeEach(async () => {
    const blue = new Scene({ clusterID: "blue" });
    const object = await blue.given(ReservedAddress, "db", spec);
    green = new Scene({ beside: blue, clusterID: "green" });
    copy = copyTo(green, object);
    green.gateway.drop(ReservedAddress.resource, blue.idOf(object));
  });

  it.each<[string, (gateway: FakeGateway) => void]>([
    ["the update after the create fails", (gateway) => gateway.refuse("update", 503)],
    ["the answer to the create was lost", (gateway) => gateway.loseAnswer("create")],
    [
      "the answer to the create cannot be read, and what it made neither",
      (gateway) => {
        gateway.loseAnswer("create", { kind: "unreadable" });
        gateway.beforeCall = ({ verb }) => verb === "create" && gateway.refuse("get", 503);
      },
    ],
  ])("makes one of its own, and keeps it although %s", async (_, fail) => {
    fail(green.gateway);
    await green.settle(copy);
    await green.clock.advance(60_000);
    await green.settle(copy);
    expect(green.condition(copy, "Synced")?.reason).toBe("Available");
    expect(green.cluster.now(copy).status?.owner).toBe("green/team-a/db");
    expect(green.gateway.remotesOf(ReservedAddress.resource)).toMatchObject([
      { id: green.idOf(copy), endpoint_configuration: { id: "ec_1" } },
    ]);
  });
});

it("the copy of an object whose remote is gone does not delete what the original has replaced", async () => {
  const blue = new Scene({ clusterID: "blue" });
  const object = await blue.given(IPPolicy, "one", opaque);
  const { id: retiring } = blue.gateway.seed(IPPolicy.resource, opaque);
  const green = new Scene({ beside: blue, clusterID: "green" });
  const copy = copyTo(green, { ...object, status: { ...object.status, retiring: [retiring] } });
  green.gateway.drop(IPPolicy.resource, blue.idOf(object));
  for (let count = 0; count < 3; count += 1) await green.settle(copy);
  expect(green.reason(copy)).toMatch(/^Available/);
  expect(green.cluster.now(copy).status).not.toHaveProperty("retiring");
  await green.deleteAndSettle(copy);
  expect(green.gateway.remotesOf(IPPolicy.resource)).toMatchObject([{ id: retiring }]);
});

it("a status records its owner only if the remote does not", async () => {
  const scene = new Scene();
  expect((await scene.given(IPPolicy, "marked")).status).not.toHaveProperty("owner");
  const object = await scene.given(IPPolicy, "one", opaque);
  expect(object.status?.owner).toBe("c1/team-a/one");
  scene.resetCounts();
  await scene.reconcile(object);
  expect(scene.cluster.writes).toEqual([]);
  await scene.apply(IPPolicy, "one", { metadata: "{}" });
  expect(scene.cluster.now(object).status?.owner).toBeUndefined();
});

it("the copy of an object that created an entry does not delete it", async () => {
  const blue = new Scene({ clusterID: "blue" });
  const id = blue.idOf(await blue.given(EventSubscription, "audit"));
  const object = await blue.given(EventSource, "one", { subscriptionRef: { id }, type: "a_created.v0" });
  const green = new Scene({ beside: blue, clusterID: "green" });
  const copy = copyTo(green, object);
  green.cluster.delete(copy);
  await green.settle(copy, 3);
  expect(changes(green).filter(({ verb }) => verb === "deleteSource")).toEqual([]);
});

it("the copy of an object that set modules removes none", async () => {
  const blue = new Scene({ clusterID: "blue" });
  const { id: routeId } = blue.gateway.seed(HTTPSEdgeRoute.resource, {});
  const spec = { edgeId: "edghts_1", routeId, webhookVerification: { enabled: true, provider: "sns" } };
  const object = await blue.given(HTTPSEdgeRoute, "one", spec);
  const green = new Scene({ beside: blue, clusterID: "green" });
  const copy = copyTo(green, object);
  await green.deleteAndSettle(copy);
  expect(green.cluster.exists(copy)).toBe(false);
  expect(changes(green).filter(({ verb }) => verb !== "getModule")).toEqual([]);
});
