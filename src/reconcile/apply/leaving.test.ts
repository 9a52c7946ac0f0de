import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedAddress } from "../../kinds/reserved-address.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import { WeightedBackend } from "../../kinds/weighted-backend.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { annotations } from "../../schema/contract.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const group = { kind: "TunnelGroupBackend", name: "web" };

async function deleted(object: ManagedObject): Promise<void> {
  await scene.delete(object);
}

describe("a remote that the service cannot delete", () => {
  it("blocks its object until somebody has deleted it", async () => {
    const edge = await scene.given(TLSEdge, "shop");
    await scene.confirmLack(TLSEdge.resource, "delete");
    await deleted(edge);
    expect(scene.reason(edge)).toMatch(/^DeleteUnsupported: Delete edgtls_1 by hand/);
    await scene.reconcile(edge);
    expect(scene.gateway.takeCalls()).toEqual(["get edgtls_1", "get edgtls_1"]);
    scene.gateway.drop(TLSEdge.resource, "edgtls_1");
    await scene.reconcile(edge);
    expect(scene.cluster.exists(edge)).toBe(false);
  });

  it("is recreated only once somebody has deleted it", async () => {
    const edge = await scene.given(TLSEdge, "shop", { description: "one", replacement: "Recreate" });
    scene.cluster.apply(TLSEdge, "shop", { description: "two", replacement: "Recreate" });
    await scene.confirmLack(TLSEdge.resource, "update");
    await scene.confirmLack(TLSEdge.resource, "delete");
    scene.gateway.refuse("update", 405);
    await scene.reconcile(edge);
    expect(scene.reason(edge)).toMatch(/^DeleteUnsupported: Delete edgtls_1 by hand, and it is created anew/);
    expect(scene.gateway.remotesOf(TLSEdge.resource)).toMatchObject([{ id: "edgtls_1", description: "one" }]);
    scene.gateway.drop(TLSEdge.resource, "edgtls_1");
    await scene.settle(edge, 3);
    expect(scene.gateway.remotesOf(TLSEdge.resource)).toMatchObject([{ id: "edgtls_2", description: "two" }]);
  });
});

describe("a remote with replacement: Recreate", () => {
  it("is deleted and created again, with an event that is no warning", async () => {
    const edge = await scene.given(TLSEdge, "shop", { description: "one", replacement: "Recreate" });
    await scene.reconcile(edge);
    scene.resetCounts();
    scene.cluster.apply(TLSEdge, "shop", { description: "two", replacement: "Recreate" });
    await scene.confirmLack(TLSEdge.resource, "update");
    await scene.reconcile(edge);
    expect(scene.gateway.takeCalls()).toEqual(["delete edgtls_1", "create"]);
    expect(scene.cluster.events).toMatchObject([
      { type: "Normal", note: expect.stringContaining("in place of edgtls_1") },
    ]);
    expect(scene.condition(edge, "Ready")?.status).toBe("True");
    expect(scene.idOf(edge)).toBe("edgtls_2");
  });

  it("is created by the next process when this one has only deleted it", async () => {
    const edge = await scene.given(TLSEdge, "shop", { description: "one", replacement: "Recreate" });
    scene.cluster.apply(TLSEdge, "shop", { description: "two", replacement: "Recreate" });
    scene.gateway.refuse("update", 405);
    scene.gateway.swallow("create");
    await scene.reconcile(edge);
    scene.restart();
    await scene.settle(edge, 5);
    expect(scene.gateway.remotesOf(TLSEdge.resource)).toMatchObject([{ description: "two" }]);
    expect(scene.condition(edge, "Ready")?.status).toBe("True");
  });
});

describe("a remote with replacement: Recreate of an object that only reports drift", () => {
  const spec = (description: string) => ({ description, replacement: "Recreate", driftPolicy: "Report" }) as const;

  async function deletedOnly(): Promise<ManagedObject> {
    const edge = await scene.given(TLSEdge, "shop", spec("one"));
    scene.cluster.apply(TLSEdge, "shop", spec("two"));
    await scene.confirmLack(TLSEdge.resource, "update");
    scene.gateway.swallow("create");
    await scene.settle(edge);
    return edge;
  }

  /** Its recreation has begun, and the service answers the DELETE with 500, until `beforeCall` is another function. */
  async function undeleted(): Promise<ManagedObject> {
    const edge = await scene.given(TLSEdge, "shop", spec("one"));
    scene.cluster.apply(TLSEdge, "shop", spec("two"));
    await scene.confirmLack(TLSEdge.resource, "update");
    scene.gateway.beforeCall = ({ verb }) => void (verb === "delete" && scene.gateway.refuse(verb, 500));
    await scene.settle(edge);
    return edge;
  }

  it.each([true, false])(
    "is created again after the operator has deleted it, by the next process: %s",
    async (isNext) => {
      const edge = await deletedOnly();
      if (isNext) scene.restart();
      await scene.clock.advance(120_000);
      await scene.settle(edge, 5);
      expect(scene.gateway.remotesOf(TLSEdge.resource)).toMatchObject([{ description: "two" }]);
      expect(scene.condition(edge, "Ready")?.status).toBe("True");
      expect(scene.cluster.now(edge).status?.recreating).toBeUndefined();
    },
  );

  it.each<[string, (edge: ManagedObject) => void]>([
    ["released", (edge) => scene.cluster.annotateByHand(edge, annotations.releaseTo, "team-a/next")],
    ["orphaned and deleted", (edge) => scene.cluster.annotateByHand(edge, annotations.orphan, "true")],
  ])("stays if its object is %s while the service refuses the DELETE", async (what, act) => {
    const edge = await undeleted();
    const id = scene.idOf(edge);
    expect(scene.cluster.now(edge).status?.recreating).toBe(id);
    act(edge);
    if (what !== "released") scene.cluster.delete(edge);
    scene.gateway.beforeCall = () => {};
    await scene.clock.advance(600_000);
    await scene.settle(edge);
    expect(scene.gateway.remotesOf(TLSEdge.resource).map((remote) => remote.id)).toEqual([id]);
  });

  it("costs no look at what is deleted or was created", async () => {
    const edge = await scene.given(TLSEdge, "shop", spec("one"));
    await scene.confirmLack(TLSEdge.resource, "update");
    scene.gateway.takeCalls();
    await scene.apply(TLSEdge, "shop", spec("two"));
    await scene.settle(edge);
    expect(scene.gateway.remotesOf(TLSEdge.resource)).toMatchObject([{ description: "two" }]);
    expect(scene.gateway.takeCalls().filter((call) => call.startsWith("get"))).toEqual([]);
  });

  it.each([true, false])(
    "is created again when its deletion arrives after the replacement was taken back, at the next process: %s",
    async (isNext) => {
      const edge = await undeleted();
      const id = scene.idOf(edge);
      scene.gateway.beforeCall = () => {};
      if (isNext) scene.restart();
      await scene.apply(TLSEdge, "shop", spec("one"));
      scene.gateway.drop(TLSEdge.resource, id);
      await scene.clock.advance(60_000);
      await scene.settle(edge, 5);
      expect(scene.gateway.remotesOf(TLSEdge.resource)).toMatchObject([{ description: "one" }]);
      expect(scene.condition(edge, "Ready")?.status).toBe("True");
    },
  );

  it("is missed when somebody else deletes it, also after a replacement that was taken back", async () => {
    const edge = await undeleted();
    expect(scene.cluster.now(edge).status?.recreating).toBe(scene.idOf(edge));
    scene.gateway.beforeCall = () => {};
    await scene.apply(TLSEdge, "shop", spec("one"));
    expect(scene.reason(edge)).toBe(
      "Updating: Waiting until it is certain that no interrupted deletion arrives any more",
    );
    await scene.clock.advance(60_000);
    await scene.settle(edge);
    expect(scene.cluster.now(edge).status?.recreating).toBeUndefined();
    expect(scene.condition(edge, "Ready")?.status).toBe("True");
    scene.gateway.drop(TLSEdge.resource, scene.idOf(edge));
    await scene.resync(TLSEdge, edge);
    await scene.settle(edge);
    expect(scene.reason(edge)).toMatch(/^RemoteMissing: /);
    expect(scene.gateway.remotesOf(TLSEdge.resource)).toEqual([]);
  });
});

it("a remote with replacement: Recreate is neither deleted nor created again while something uses it, with or without an object", async () => {
  const spec = { region: "us", replacement: "Recreate" as const };
  const address = await scene.given(ReservedAddress, "db", { ...spec, description: "one" });
  const id = scene.idOf(address);
  const hostports = ["1.tcp.example:1"];
  scene.gateway.change(ReservedAddress.resource, id, { addr: hostports[0] });
  await scene.resync(ReservedAddress, address);
  const edge = scene.gateway.seed(TCPEdge.resource, { hostports });
  await scene.apply(TCPEdge, "db", { addressRefs: [{ name: "db" }] });
  scene.cluster.apply(ReservedAddress, "db", { ...spec, description: "two" });
  await scene.confirmLack(ReservedAddress.resource, "update");
  scene.gateway.beforeCall = ({ verb, resource }) => {
    if (verb === "update" && resource === ReservedAddress.resource.name) scene.gateway.refuse(verb, 405);
  };
  await scene.reconcile(address);
  expect(scene.reason(address)).toMatch(/^InUse: Delete or change TCPEdge "db" first/);
  scene.cluster.apply(TCPEdge, "db", { hostports: [] });
  await scene.settle(scene.cluster.get("TCPEdge", "team-a", "db") as ManagedObject, 3);
  expect(await scene.settle(address, 3)).toEqual({ requeueAfterSeconds: 60 });
  expect(scene.reason(address)).toMatch(new RegExp(`^InUse: Ask who runs TCP edge ${edge.id} to change it first`));
  expect(scene.gateway.remotesOf(ReservedAddress.resource)).toMatchObject([{ id, description: "one" }]);
  scene.gateway.drop(TCPEdge.resource, edge.id);
  await scene.clock.advance(300_000);
  await scene.settle(address, 3);
  expect(scene.gateway.remotesOf(ReservedAddress.resource)).toMatchObject([{ description: "two" }]);
  expect(scene.idOf(address)).not.toBe(id);
});

describe("in a namespace that is being deleted", () => {
  const refused = 400;

  it("a remote that cannot be deleted is left, with the remotes that it uses", async () => {
    const web = await scene.given(TunnelGroupBackend, "web");
    const split = await scene.given(WeightedBackend, "split", { backends: [{ backendRef: group, weight: 1 }] });
    const edge = await scene.given(TLSEdge, "shop", {
      backend: { enabled: true, backendRef: { kind: "WeightedBackend", name: "split" } },
    });
    scene.cluster.namespaceDeleting = true;
    scene.gateway.refuse("delete", 405);
    for (const object of [edge, split, web]) {
      await deleted(object);
      expect(scene.cluster.exists(object)).toBe(false);
    }
    expect(scene.cluster.events.map(({ type, reason, note }) => [type, reason, note])).toEqual([
      ["Warning", "DeleteUnsupported", expect.stringContaining("Left edgtls_3")],
      ["Warning", "InUse", expect.stringContaining("Left bkdwd_2 in the account: TLS edge edgtls_3 uses it")],
      ["Warning", "InUse", expect.stringContaining("Left bkdtg_1 in the account: weighted backend bkdwd_2 uses it")],
    ]);
  });

  it("a remote that is used by the remote of an object waits", async () => {
    const web = await scene.given(TunnelGroupBackend, "web");
    await scene.given(WeightedBackend, "split", { backends: [{ backendRef: { id: scene.idOf(web) }, weight: 1 }] });
    scene.cluster.namespaceDeleting = true;
    scene.gateway.refuse("delete", refused);
    await deleted(web);
    expect(scene.reason(web)).toMatch(/^InUse: /);
  });

  it("a subscription goes whose entry an object retains, since that is deleted with it", async () => {
    const subscription = await scene.given(EventSubscription, "audit");
    const spec = { subscriptionRef: { name: "audit" }, type: "a_created.v0", deletionPolicy: "Retain" } as const;
    const source = await scene.given(EventSource, "one", spec);
    scene.cluster.namespaceDeleting = true;
    scene.cluster.delete(source);
    await deleted(subscription);
    await scene.settle(source);
    await scene.settle(subscription);
    expect(scene.cluster.exists(subscription)).toBe(false);
    expect(scene.gateway.remotesOf(EventSubscription.resource)).toEqual([]);
  });

  it("a remote in use waits when no user of it is found, and is left after two minutes", async () => {
    const web = await scene.given(TunnelGroupBackend, "web");
    scene.cluster.namespaceDeleting = true;
    scene.gateway.refuse("delete", refused, { serviceMessage: "a route has it" });
    await deleted(web);
    expect(scene.reason(web)).toMatch(/^InUse: /);
    await scene.clock.advance(121_000);
    scene.gateway.refuse("delete", refused, { serviceMessage: "a route has it" });
    scene.resetCounts();
    await scene.reconcile(web);
    expect(scene.cluster.exists(web)).toBe(false);
    expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)).toHaveLength(1);
    expect(scene.cluster.events).toMatchObject([
      {
        type: "Warning",
        reason: "InUse",
        note: expect.stringMatching(/^Left bkdtg_1 in the account: .*a route has it/),
      },
    ]);
  });
});

describe("in a namespace that is being deleted, a remote is never left because", () => {
  const restrictedByID = (id: string) => ({ ipRestriction: { enabled: true, ipPolicyRefs: [{ id }] } });
  const left = () => scene.cluster.events.filter(({ note }) => note.startsWith("Left"));

  it("its turn to be deleted comes late", async () => {
    scene = new Scene({ deletesPerMinute: 1 });
    const policies: ManagedObject[] = [];
    for (const name of ["a", "b", "c", "d"]) policies.push(await scene.given(IPPolicy, name));
    scene.cluster.namespaceDeleting = true;
    for (const policy of policies) scene.cluster.delete(policy);
    for (let seconds = 0; seconds < 240; seconds += 30) {
      for (const policy of policies.filter((one) => scene.cluster.exists(one))) await scene.reconcile(policy);
      await scene.clock.advance(30_000);
    }
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
    expect(left()).toEqual([]);
  });

  it("the service refuses it for some minutes, in whatever state it is", async () => {
    const policy = await scene.given(IPPolicy, "office");
    scene.cluster.namespaceDeleting = true;
    scene.cluster.delete(policy);
    for (let minute = 0; minute < 5; minute += 1) {
      scene.gateway.refuse("delete", 402);
      await scene.reconcile(policy);
      expect(scene.reason(policy)).toMatch(/^UnexpectedResponse: /);
      await scene.clock.advance(60_000);
    }
    await scene.settle(policy);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
    expect(left()).toEqual([]);
  });

  it.each([
    ["whose status says nothing", true],
    ["which waits for an outage to end", false],
  ])("it waits for an edge of another namespace that is being deleted, %s", async (_, isSilent) => {
    const policy = await scene.given(IPPolicy, "office");
    const edge = await scene.apply(TCPEdge, "db", restrictedByID(scene.idOf(policy)), { namespace: "team-b" });
    scene.cluster.namespaceDeleting = true;
    scene.gateway.refuse("delete", 503);
    await deleted(edge);
    const { id } = scene.cluster.now(edge).status ?? {};
    if (isSilent && id) await scene.cluster.writeStatus(TCPEdge, scene.cluster.now(edge), { id });
    for (let minute = 0; minute < 5; minute += 1) {
      await deleted(policy);
      expect(scene.reason(policy)).toMatch(/^Deleting: Waiting for TCPEdge team-b\/db to be deleted first/);
      await scene.clock.advance(60_000);
    }
    await scene.settle(edge);
    await scene.settle(policy);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
    expect(left()).toEqual([]);
  });
});

it("a remote is left when one of the objects elsewhere that use it is itself in use, though one of its own namespace goes", async () => {
  const web = await scene.given(TunnelGroupBackend, "web");
  const id = scene.idOf(web);
  const spec = { backends: [{ backendRef: { id }, weight: 1 }] };
  const own = await scene.given(WeightedBackend, "own", spec);
  const split = await scene.apply(WeightedBackend, "split", spec, { namespace: "team-b" });
  scene.gateway.seed(TCPEdge.resource, { backend: { enabled: true, backend_id: scene.idOf(split) } });
  await scene.clock.advance(20_000);
  await deleted(split);
  expect(scene.reason(split)).toMatch(/^InUse: /);
  scene.cluster.namespaceDeleting = true;
  scene.cluster.delete(own);
  scene.cluster.events.length = 0;
  await deleted(web);
  expect(scene.cluster.exists(web)).toBe(false);
  expect(scene.cluster.events).toMatchObject([
    { type: "Warning", note: expect.stringContaining("WeightedBackend team-b/split uses it and stays") },
  ]);
});

describe("in a namespace that is not being deleted", () => {
  it("a remote in use waits, and no DELETE is sent", async () => {
    const web = await scene.given(TunnelGroupBackend, "web");
    scene.gateway.seed(WeightedBackend.resource, { backends: { [scene.idOf(web)]: 1 } });
    await deleted(web);
    expect(scene.reason(web)).toMatch(/^InUse: .*weighted backend bkdwd_2/);
    expect(scene.gateway.takeCalls()).toEqual(["list", "list", "list", "list"]);
  });
});
