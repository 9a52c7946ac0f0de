import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { EventDestination } from "../../kinds/event-destination.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedAddress } from "../../kinds/reserved-address.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import { intentOf } from "../../objects/intent.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { ownerMarkOf } from "../../objects/ownership.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import type { Kind } from "../../schema/define.ts";

type Spec = ManagedObject["spec"];

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const bodies = () => scene.gateway.calls.filter(({ verb }) => verb === "update").map(({ body }) => body);

describe("an edit", () => {
  it("takes one PATCH with all mutable members, and one cluster write", async () => {
    const object = await scene.given(TunnelGroupBackend, "db", { description: "a", labels: { app: "db" } });
    scene.cluster.apply(TunnelGroupBackend, "db", { description: "b", labels: { app: "db" } });
    expect(await scene.reconcile(object)).toEqual({});
    expect(bodies()).toMatchObject([{ description: "b", labels: { app: "db" }, metadata: expect.any(String) }]);
    expect(scene.gateway.takeCalls()).toEqual(["update bkdtg_1"]);
    expect(scene.cluster.writes).toEqual(["writeStatus"]);
    expect(scene.condition(object, "Ready")).toMatchObject({ status: "True", observedGeneration: 2 });
  });

  it("clears fields that the spec has dropped, and leaves fields that it never set", async () => {
    const object = await scene.given(TunnelGroupBackend, "db", { description: "a" });
    scene.gateway.change(TunnelGroupBackend.resource, "bkdtg_1", { labels: { theirs: "yes" } });
    await scene.resync(TunnelGroupBackend);
    await scene.apply(TunnelGroupBackend, "db", {});
    expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)).toMatchObject([
      { description: "", labels: { theirs: "yes" } },
    ]);
    expect(scene.cluster.now(object).status?.appliedFields).toBeUndefined();
  });

  it("is cleared when it is taken back after its answer was lost", async () => {
    const object = await scene.given(TunnelGroupBackend, "db", {});
    scene.gateway.loseAnswer("update");
    await scene.apply(TunnelGroupBackend, "db", { description: "a" });
    scene.cluster.apply(TunnelGroupBackend, "db", {});
    scene.restart();
    await scene.settle(object);
    expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)[0]?.["description"]).toBeFalsy();
  });

  it("is cleared when it is taken back after the process died", async () => {
    const object = await scene.given(TunnelGroupBackend, "db", {});
    scene.cluster.apply(TunnelGroupBackend, "db", { description: "a" });
    scene.cluster.beforeWrite = () => {
      if (bodies().length > 0) throw new Outdated("killed");
    };
    await scene.reconcile(object);
    expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)).toMatchObject([{ description: "a" }]);
    scene.cluster.beforeWrite = () => {};
    scene.restart();
    scene.cluster.apply(TunnelGroupBackend, "db", {});
    await scene.settle(object);
    expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)[0]?.["description"]).toBeFalsy();
  });

  it.each([
    ["created by an interrupted create", {}],
    ["adopted", { adopt: { id: "bkdtg_1" } }],
  ])("is cleared when it is taken back after the process died, also on a remote that was %s", async (_, more) => {
    if ("adopt" in more) scene.gateway.seed(TunnelGroupBackend.resource, {});
    else scene.gateway.loseAnswer("create");
    const object = scene.cluster.apply(TunnelGroupBackend, "db", more);
    if (!("adopt" in more)) await scene.reconcile(object);
    scene.cluster.apply(TunnelGroupBackend, "db", { ...more, description: "a" });
    scene.cluster.beforeWrite = (write) => {
      const [remote] = scene.gateway.remotesOf(TunnelGroupBackend.resource);
      if (write === "writeStatus" && remote?.["description"] === "a") throw new Outdated("killed");
    };
    await scene.settle(object, 3);
    expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)).toMatchObject([{ description: "a" }]);
    scene.cluster.beforeWrite = () => {};
    scene.restart();
    scene.cluster.apply(TunnelGroupBackend, "db", more);
    await scene.settle(object);
    const [remote, ...others] = scene.gateway.remotesOf(TunnelGroupBackend.resource);
    expect(others).toEqual([]);
    expect(remote?.["description"]).toBeFalsy();
  });

  it.each([
    ["Correct", "by the same process"],
    ["Report", "by the same process"],
    ["Correct", "by the next process"],
    ["Report", "by the next process"],
  ] as const)("is cleared when it arrives after it was taken back (driftPolicy: %s, %s)", async (driftPolicy, by) => {
    const backend = () => scene.gateway.remotesOf(TunnelGroupBackend.resource)[0];
    const object = await scene.given(TunnelGroupBackend, "db", { driftPolicy });
    scene.gateway.swallow("update");
    await scene.apply(TunnelGroupBackend, "db", { driftPolicy, description: "late" });
    scene.cluster.apply(TunnelGroupBackend, "db", { driftPolicy });
    if (by === "by the next process") scene.restart();
    const { requeueAfterSeconds = 0 } = (await scene.reconcile(object)) as { requeueAfterSeconds?: number };
    expect(scene.reason(object)).toBe(
      "Updating: Waiting until it is certain that no interrupted change of spec.description arrives any more",
    );
    scene.gateway.change(TunnelGroupBackend.resource, "bkdtg_1", { description: "late" });
    await scene.clock.advance(requeueAfterSeconds * 1000);
    await scene.settle(object);
    expect(backend()?.["description"]).toBeFalsy();
    expect(scene.reason(object)).toMatch(/^Available/);
    expect(scene.cluster.now(object).status?.appliedFields).toBeUndefined();
  });

  it.each([
    ["its answer was lost, and it was sent again", async () => {}],
    [
      "the service did not answer the next one either",
      async (object: ManagedObject) => {
        scene.gateway.swallow("get", "unsent");
        await scene.reconcile(object);
        await scene.clock.advance(1000);
      },
    ],
  ])("is cleared when it arrives after it was taken back, also after %s", async (what, meanwhile) => {
    const object = await scene.given(TunnelGroupBackend, "db", {});
    scene.gateway.swallow("update");
    await scene.apply(TunnelGroupBackend, "db", { description: "late" });
    if (what.includes("sent again")) {
      await scene.clock.advance(1000);
      await scene.reconcile(object);
      expect(scene.reason(object)).toMatch(/^Available/);
    }
    scene.cluster.apply(TunnelGroupBackend, "db", {});
    await meanwhile(object);
    const { requeueAfterSeconds = 0 } = (await scene.reconcile(object)) as { requeueAfterSeconds?: number };
    expect(scene.reason(object)).toMatch(/^Updating: Waiting until it is certain/);
    scene.gateway.change(TunnelGroupBackend.resource, "bkdtg_1", { description: "late" });
    await scene.clock.advance(requeueAfterSeconds * 1000);
    await scene.settle(object);
    expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)[0]?.["description"]).toBeFalsy();
    expect(scene.reason(object)).toMatch(/^Available/);
  });

  it("waits for nothing when it drops a field right after a restart, and no update was interrupted", async () => {
    const object = await scene.given(TunnelGroupBackend, "db", { description: "a" });
    scene.restart();
    scene.cluster.apply(TunnelGroupBackend, "db", {});
    expect(await scene.reconcile(object)).toEqual({});
    expect(scene.reason(object)).toMatch(/^Available/);
  });

  it("keeps the owner mark when the spec drops its metadata", async () => {
    await scene.given(IPPolicy, "office", { metadata: '{"team":"a"}' });
    await scene.apply(IPPolicy, "office", {});
    const [remote] = scene.gateway.remotesOf(IPPolicy.resource);
    expect(Object.keys(JSON.parse(String(remote?.["metadata"])))).toEqual(["tunnelgateway.dev/owner"]);
  });

  it("sends members that only an update accepts right after the create", async () => {
    const object = await scene.apply(ReservedAddress, "db", { endpointConfigurationId: "ec_1" });
    expect(scene.gateway.takeCalls()).toEqual(["create", "update ra_1"]);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("reports the service's message when it refuses", async () => {
    const object = await scene.given(IPPolicy, "office");
    scene.gateway.refuse("update", 422, { serviceMessage: "too long" });
    await scene.apply(IPPolicy, "office", { description: "b" });
    expect(scene.reason(object)).toMatch(/^InvalidSpec: .*too long/);
    expect(scene.idOf(object)).toBe("ipp_1");
  });
});

describe("modules of an edge", () => {
  const whole = {
    backend: { enabled: true, backendRef: { id: "bkdtg_9" } },
    policy: { enabled: true, inbound: [{ actions: [{ type: "deny" }] }] },
  };

  it("are left out of an update when they do not differ", async () => {
    await scene.given(TCPEdge, "db", { description: "a", ...whole });
    await scene.apply(TCPEdge, "db", { description: "b", ...whole });
    expect(Object.keys(bodies()[0] ?? {}).sort()).toEqual(["description", "metadata"]);
  });

  it("are removed by their delete operation when there is one", async () => {
    const object = await scene.given(TCPEdge, "db", whole);
    scene.cluster.apply(TCPEdge, "db", { backend: whole.backend });
    expect(await scene.reconcile(object)).toEqual({});
    expect(scene.gateway.takeCalls()).toEqual(["deleteModule edgtcp_1"]);
    expect(scene.gateway.remotesOf(TCPEdge.resource)).toMatchObject([{ policy: null, backend: { enabled: true } }]);
  });

  it("count as removed when the service answers 404 to that operation, which its API page documents", async () => {
    const object = await scene.given(TCPEdge, "db", whole);
    scene.gateway.change(TCPEdge.resource, "edgtcp_1", { policy: null });
    scene.gateway.refuse("deleteModule", 404);
    await scene.apply(TCPEdge, "db", { backend: whole.backend });
    expect(scene.gateway.takeCalls()).toEqual(["deleteModule edgtcp_1"]);
    expect(scene.condition(object, "Ready")).toMatchObject({ status: "True", observedGeneration: 2 });
  });

  it("are removed also where the service cannot update the edge", async () => {
    const object = await scene.given(TCPEdge, "db", whole);
    await scene.confirmLack(TCPEdge.resource, "update");
    await scene.apply(TCPEdge, "db", { backend: whole.backend });
    expect(scene.gateway.takeCalls()).toEqual(["deleteModule edgtcp_1"]);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("are disabled with their settings when there is none", async () => {
    const object = await scene.given(TCPEdge, "db", whole);
    await scene.apply(TCPEdge, "db", { policy: whole.policy });
    expect(scene.gateway.remotesOf(TCPEdge.resource)).toMatchObject([
      { backend: { enabled: false, backend: { id: "bkdtg_9" } } },
    ]);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });
});

it("nothing is sent of a spec that changes while its new fields are recorded", async () => {
  const object = await scene.given(IPPolicy, "office");
  scene.cluster.apply(IPPolicy, "office", { description: "first" });
  let isChanged = false;
  scene.cluster.beforeWrite = () => {
    if (!isChanged) scene.cluster.apply(IPPolicy, "office", { description: "second" });
    isChanged = true;
  };
  expect(await scene.reconcile(object)).toEqual({ stale: true });
  expect(scene.gateway.takeCalls()).toEqual([]);
  await scene.reconcile(object);
  expect(scene.gateway.remotesOf(IPPolicy.resource)).toMatchObject([{ description: "second" }]);
});

it("nothing is sent for an object that has ended when its new fields are recorded, before a watch reports its end", async () => {
  const object = await scene.given(IPPolicy, "office");
  scene.cluster.apply(IPPolicy, "office", { description: "first" });
  scene.cluster.writeStatus = async () => false;
  expect(await scene.reconcile(object)).toEqual({ stale: true });
  expect(scene.gateway.takeCalls()).toEqual([]);
});

describe("somebody else's change", () => {
  const changed = { description: "theirs" };

  async function driftedObject(spec: ManagedObject["spec"] = {}): Promise<ManagedObject> {
    const object = await scene.given(IPPolicy, "office", { description: "ours", ...spec });
    scene.gateway.change(IPPolicy.resource, "ipp_1", changed);
    await scene.resync(IPPolicy);
    return object;
  }

  it.each([
    ["has no metadata left", null],
    ["has metadata without the mark", '{"team":"a"}'],
  ])("is corrected when it removed the owner mark and the remote %s", async (_, metadata) => {
    const object = await scene.given(IPPolicy, "office", { description: "ours" });
    scene.gateway.change(IPPolicy.resource, "ipp_1", { metadata });
    await scene.resync(IPPolicy, object);
    expect(scene.gateway.takeCalls()).toEqual(["get ipp_1", "update ipp_1"]);
    const [remote] = scene.gateway.remotesOf(IPPolicy.resource);
    expect(remote && ownerMarkOf(remote)).toBe(`c1/team-a/office#${intentOf(object)?.create}`);
    expect(JSON.parse(String(remote?.["metadata"]))).toMatchObject(JSON.parse(metadata ?? "{}"));
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual([]);
  });

  it.each([
    ["changes are only reported", { driftPolicy: "Report" as const }, null],
    ["the metadata has no room for it", {}, "somebody's words"],
  ])("is left alone when it removed the owner mark and %s", async (_, spec, metadata) => {
    const object = await scene.given(IPPolicy, "office", { description: "ours", ...spec });
    scene.gateway.change(IPPolicy.resource, "ipp_1", { metadata });
    await scene.resync(IPPolicy, object);
    expect(scene.gateway.takeCalls()).toEqual([]);
    expect(scene.condition(object, "Drifted")).toBeUndefined();
  });

  it("is confirmed by a GET and corrected", async () => {
    const object = await driftedObject();
    expect(await scene.reconcile(object)).toEqual({});
    expect(scene.gateway.takeCalls()).toEqual(["get ipp_1", "update ipp_1"]);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toMatchObject([{ description: "ours" }]);
    expect(scene.cluster.events).toMatchObject([{ type: "Normal", reason: "RemoteDiffers" }]);
    expect(scene.condition(object, "Drifted")).toBeUndefined();
  });

  it("is not assumed when only the list was out of date", async () => {
    const object = await driftedObject();
    scene.gateway.change(IPPolicy.resource, "ipp_1", { description: "ours" });
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["get ipp_1"]);
    expect(scene.cluster.events).toEqual([]);
  });

  it("is reported once and not corrected with driftPolicy: Report", async () => {
    const object = await driftedObject({ driftPolicy: "Report" });
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["get ipp_1"]);
    expect(scene.cluster.now(object).status?.drift).toEqual(["description"]);
    expect(scene.condition(object, "Drifted")).toMatchObject({ status: "True", reason: "RemoteDiffers" });
    expect(scene.condition(object, "Drifted")?.message).toMatch(/^Put spec.description right in the account, or /);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    scene.resetCounts();
    await scene.reconcile(object);
    expect(scene.cluster.writes).toEqual([]);
    expect(scene.cluster.events).toEqual([]);
  });

  it("is overwritten by an edit, also with driftPolicy: Report", async () => {
    const object = await driftedObject({ driftPolicy: "Report" });
    await scene.reconcile(object);
    await scene.apply(IPPolicy, "office", { description: "new", driftPolicy: "Report" });
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toMatchObject([{ description: "new" }]);
    expect(scene.condition(object, "Drifted")).toBeUndefined();
  });

  it("is not assumed for an edit that had to wait", async () => {
    const edge = await scene.given(TCPEdge, "db", { driftPolicy: "Report" });
    const backend = { enabled: true, backendRef: { kind: "TunnelGroupBackend", name: "db" } };
    await scene.apply(TCPEdge, "db", { driftPolicy: "Report", backend });
    expect(scene.reason(edge)).toMatch(/^ReferenceNotReady: /);
    await scene.given(TunnelGroupBackend, "db");
    await scene.reconcile(edge);
    expect(scene.condition(edge, "Drifted")).toBeUndefined();
    expect(scene.gateway.remotesOf(TCPEdge.resource)).toMatchObject([{ backend: { backend: { id: "bkdtg_2" } } }]);
  });

  it("is reported after three corrections that did not last", async () => {
    const object = await driftedObject();
    for (let round = 0; round < 3; round += 1) {
      await scene.reconcile(object);
      expect(scene.gateway.takeCalls()).toContain("update ipp_1");
      scene.gateway.change(IPPolicy.resource, "ipp_1", changed);
      await scene.resync(IPPolicy);
    }
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).not.toContain("update ipp_1");
    expect(scene.condition(object, "Drifted")).toMatchObject({ reason: "RemoteNormalises" });
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("is reported after three corrections as well when two fields change in turns", async () => {
    const object = await scene.given(TunnelGroupBackend, "db", { description: "ours", labels: { app: "db" } });
    const updates: string[] = [];
    for (let round = 0; round < 20; round += 1) {
      const change = round % 2 === 0 ? { description: "theirs" } : { labels: { app: "theirs" } };
      scene.gateway.change(TunnelGroupBackend.resource, scene.idOf(object), change);
      await scene.resync(TunnelGroupBackend, object);
      updates.push(...scene.gateway.takeCalls().filter((call) => call.startsWith("update ")));
    }
    // three of the one, three of the other, and three of both together
    expect(updates).toHaveLength(9);
    expect(scene.condition(object, "Drifted")).toMatchObject({ status: "True", reason: "RemoteNormalises" });
    expect(scene.cluster.now(object).status?.drift).toEqual(["description", "labels"]);
  });
});

describe("a value that the service normalises", () => {
  beforeEach(() => {
    scene.gateway.normalise = (remote) => ({
      ...remote,
      description: String(remote["description"] ?? "").toUpperCase(),
    });
  });

  it("is sent three times and then reported as drift", async () => {
    const object = scene.cluster.apply(IPPolicy, "office", { description: "small" });
    await scene.settle(object, 3);
    expect(scene.gateway.takeCalls().filter((call) => call === "update ipp_1")).toHaveLength(3);
    expect(scene.condition(object, "Drifted")).toMatchObject({ status: "True", reason: "RemoteNormalises" });
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    scene.restart();
    scene.resetCounts();
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["list", "get ipp_1"]);
    expect(scene.cluster.writes).toEqual([]);
  });

  it("is no drift once the spec has the normalised value", async () => {
    const object = scene.cluster.apply(IPPolicy, "office", { description: "small" });
    await scene.settle(object);
    await scene.apply(IPPolicy, "office", { description: "SMALL" });
    expect(scene.condition(object, "Drifted")).toBeUndefined();
    expect(scene.cluster.now(object).status?.drift).toBeUndefined();
  });

  it("does not keep a change of another field by somebody else from being corrected", async () => {
    const labels = { app: "db" };
    const object = scene.cluster.apply(TunnelGroupBackend, "db", { description: "small", labels });
    await scene.settle(object);
    expect(scene.cluster.now(object).status?.drift).toEqual(["description"]);
    scene.gateway.change(TunnelGroupBackend.resource, scene.idOf(object), { labels: {} });
    await scene.resync(TunnelGroupBackend, object);
    expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)).toMatchObject([{ labels }]);
  });

  it("is sent again when the spec changes", async () => {
    const object = scene.cluster.apply(IPPolicy, "office", { description: "small" });
    await scene.settle(object);
    scene.resetCounts();
    await scene.apply(IPPolicy, "office", { description: "other" });
    expect(scene.gateway.takeCalls()).toContain("update ipp_1");
  });
});

describe("a field that the service cannot update", () => {
  const domain = { domain: "a.example.com" };

  it.each([
    ["says 405", (gateway: Scene["gateway"]) => gateway.refuse("update", 405)],
    ["says 501", (gateway: Scene["gateway"]) => gateway.refuse("update", 501)],
    ["says 404 of what a GET finds", (gateway: Scene["gateway"]) => gateway.refuse("update", 404)],
  ])(
    "is tried again when the service %s once: nothing is recreated, and no person is asked to act",
    async (_, refuse) => {
      const recreate = { ...domain, description: "new", replacement: "Recreate" } as const;
      const web = await scene.given(ReservedDomain, "web", domain);
      const other = await scene.given(ReservedDomain, "other", { domain: "b.example.com" });
      refuse(scene.gateway);
      scene.cluster.apply(ReservedDomain, "web", recreate);
      expect(await scene.reconcile(web)).toEqual({ backoff: true, atLeastSeconds: 120 });
      expect(scene.reason(web)).toMatch(/^UpdateUnsupported: Waiting to try again, no action is needed yet/);
      expect(scene.condition(web, "Stalled")).toBeUndefined();
      scene.resetCounts();
      await scene.apply(ReservedDomain, "other", { domain: "b.example.com", description: "new" });
      expect(scene.gateway.takeCalls()).toEqual([]);
      await scene.clock.advance(120_000);
      await scene.reconcile(web);
      await scene.reconcile(other);
      expect(scene.gateway.takeCalls()).toEqual(["update rd_1", "update rd_2"]);
      expect(scene.condition(web, "Ready")?.status).toBe("True");
    },
  );

  it("is reported once it is certain, and tried again within an hour", async () => {
    const web = await scene.given(ReservedDomain, "web", domain);
    await scene.confirmLack(ReservedDomain.resource, "update");
    scene.cluster.apply(ReservedDomain, "web", { ...domain, description: "new" });
    expect(await scene.reconcile(web)).toEqual({ requeueAfterSeconds: 1800 });
    expect(scene.reason(web)).toMatch(/^ReplacementRequired: .*spec\.description/);
    expect(scene.condition(web, "Stalled")?.status).toBe("True");
    expect(scene.gateway.takeCalls()).toEqual([]);
    await scene.clock.advance(3_600_000);
    await scene.reconcile(web);
    expect(scene.condition(web, "Ready")?.status).toBe("True");
  });

  it("is not tried when it is undocumented and may not be tried", async () => {
    scene = new Scene({ undocumented: false });
    const web = await scene.given(ReservedDomain, "web", domain);
    await scene.apply(ReservedDomain, "web", { ...domain, description: "new" });
    expect(scene.reason(web)).toMatch(/^ReplacementRequired: /);
    expect(scene.gateway.takeCalls()).toEqual([]);
  });

  it("is not tried where only other members are documented for updates", async () => {
    scene = new Scene({ undocumented: false });
    scene.cluster.setSecret("dd", { api: "key" });
    const target = { monitoring: { apiKeyRef: { name: "dd", key: "api" } } };
    const object = await scene.given(EventDestination, "dd", { format: "json", target });
    await scene.apply(EventDestination, "dd", { format: "protobuf", target });
    expect(scene.reason(object)).toMatch(/^ReplacementRequired: /);
    expect(scene.gateway.takeCalls()).toEqual([]);
  });

  it("is tried again after one refusal of a documented update, also where nothing undocumented may be tried", async () => {
    scene = new Scene({ undocumented: false });
    const office = await scene.given(IPPolicy, "office", { description: "old" });
    scene.gateway.refuse("update", 405);
    scene.cluster.apply(IPPolicy, "office", { description: "new" });
    expect(await scene.reconcile(office)).toEqual({ backoff: true, atLeastSeconds: 120 });
    expect(scene.reason(office)).toMatch(/^UpdateUnsupported: /);
  });

  it("is recreated when the spec has replacement: Recreate", async () => {
    const web = await scene.given(ReservedDomain, "web", domain);
    await scene.confirmLack(ReservedDomain.resource, "update");
    scene.cluster.apply(ReservedDomain, "web", { ...domain, description: "new", replacement: "Recreate" });
    await scene.settle(web);
    expect(scene.gateway.remotesOf(ReservedDomain.resource)).toMatchObject([{ id: "rd_2", description: "new" }]);
    expect(scene.condition(web, "Ready")?.status).toBe("True");
  });

  it("blocks an object whose value differs from the one at creation, and sends no other change", async () => {
    const { id } = scene.gateway.seed(ReservedAddress.resource, { region: "eu" });
    const object = await scene.apply(ReservedAddress, "db", { region: "us", description: "new", adopt: { id } });
    expect(scene.reason(object)).toMatch(/^ImmutableField: .*spec\.region/);
    expect(scene.gateway.takeCalls()).toEqual([`get ${id}`]);
  });
});

describe("a change that the service refuses with 400, of a member that the API page shows for creates only", () => {
  const refused = { serviceMessage: "it cannot be updated" };

  async function changed(kind: Kind, before: Spec, after: Spec): Promise<ManagedObject> {
    scene.cluster.setSecret("keys", { apiKey: "k" });
    const object = await scene.given(kind, "one", before);
    scene.cluster.apply(kind, "one", { ...before, ...after });
    scene.gateway.refuse("update", 400, refused);
    await scene.reconcile(object);
    return object;
  }

  const target = { monitoring: { apiKeyRef: { name: "keys", key: "apiKey" } } };
  const destination = (spec: Spec, after: Spec) => changed(EventDestination, { target, ...spec }, after);
  const shop = { domain: "shop.example.org", description: "one" };

  it("is not called a mistake of the spec alone", async () => {
    const object = await destination({}, { target: { monitoring: { ...target.monitoring, service: "web" } } });
    expect(scene.reason(object)).toMatch(
      /^UpdateUnsupported: Correct spec\.target, or set replacement: Recreate to delete the event destination and create it again/,
    );
  });

  it("recreates the remote when the spec says so", async () => {
    const object = await destination(
      { replacement: "Recreate" },
      { target: { monitoring: { ...target.monitoring, service: "web" } } },
    );
    expect(scene.idOf(object)).toMatch(/2$/);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("never releases a name that somebody else could take", async () => {
    const object = await changed(ReservedDomain, { ...shop, replacement: "Recreate" }, { description: "two" });
    expect(scene.gateway.remotesOf(ReservedDomain.resource)).toMatchObject([{ id: "rd_1" }]);
    expect(scene.reason(object)).toBe(
      "UpdateUnsupported: Correct spec.description, or delete this object and create it again: " +
        "the service refused the change: it cannot be updated",
    );
  });
});

it("an immutable member that answers leave out is no difference", async () => {
  scene.gateway.normalise = ({ region: _, ...remote }) => remote;
  const object = await scene.given(ReservedAddress, "ssh", { region: "eu" });
  await scene.reconcile(object);
  expect(scene.condition(object, "Ready")?.status).toBe("True");
});
