import { beforeEach, describe, expect, it } from "vitest";
import { keyPair } from "../../../test/fakes/reconcile/key-pairs.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { CertificateAuthority } from "../../kinds/certificate-authority.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { FailoverBackend } from "../../kinds/failover-backend.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedAddress } from "../../kinds/reserved-address.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import { WeightedBackend } from "../../kinds/weighted-backend.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { withOwnerMark } from "../../objects/ownership.ts";
import { annotations } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

async function deleted(object: ManagedObject): Promise<ReturnType<Scene["reconcile"]>> {
  scene.cluster.delete(object);
  return scene.reconcile(object);
}

const restricted = (...names: string[]) => ({
  ipRestriction: { enabled: true, ipPolicyRefs: names.map((name) => ({ name })) },
});

const restrictedByID = (id: string) => ({ ipRestriction: { enabled: true, ipPolicyRefs: [{ id }] } });

/** As requests name what edges have. */
const restriction = (id: string) => ({ ip_restriction: { enabled: true, ip_policy_ids: [id] } });

/** The names of the resources that were listed since the last time. */
const listed = (): string[] =>
  scene.gateway.calls.splice(0).flatMap(({ verb, resource }) => (verb === "list" ? [resource] : []));

const exists = (kind: Kind, id: string): boolean => scene.gateway.remote(kind.resource, id) !== undefined;

/** Nothing but the API key's rights stands between a list of these and its answer. */
function forbidLists(...resources: string[]): void {
  scene.gateway.beforeCall = ({ verb, resource }) => {
    if ((verb !== "list" && verb !== "getModule") || !resources.includes(resource)) return;
    throw refusal(403, "not allowed");
  };
}

const refusal = (status: number, serviceMessage: string): GatewayError =>
  new GatewayError({ kind: "refused", status, method: "?", route: "/", problem: "planned", serviceMessage });

describe("a module that is switched off", () => {
  it.each<[string, Kind, ManagedObject["spec"], Kind, ManagedObject["spec"]]>([
    ["IP policy", IPPolicy, {}, TCPEdge, restricted("one")],
    [
      "backend",
      TunnelGroupBackend,
      {},
      TCPEdge,
      { backend: { enabled: true, backendRef: { kind: "TunnelGroupBackend", name: "one" } } },
    ],
    [
      "certificate authority",
      CertificateAuthority,
      { caPem: keyPair("first")["tls.crt"] },
      TLSEdge,
      { mutualTls: { enabled: true, certificateAuthorityRefs: [{ name: "one" }] } },
    ],
  ])("does not use the %s whose id it keeps", async (_, kind, spec, userKind, userSpec) => {
    const used = await scene.given(kind, "one", spec);
    await scene.given(userKind, "edge", userSpec);
    await scene.apply(userKind, "edge", {});
    expect(JSON.stringify(scene.gateway.remotesOf(userKind.resource))).toContain(`"${scene.idOf(used)}"`);
    await deleted(used);
    expect(scene.cluster.exists(used)).toBe(false);
    expect(scene.gateway.remotesOf(kind.resource)).toEqual([]);
  });
});

describe("a kind that cannot be read", () => {
  it("keeps what it may use, though no list shows a user, until it can be read", async () => {
    const policy = await scene.given(IPPolicy, "office");
    scene.cluster.visibility.set("HTTPSEdgeRoute", "Unreadable");
    scene.gateway.takeCalls();
    await deleted(policy);
    expect(scene.reason(policy)).toMatch(/^InUse: .*HTTPSEdgeRoute/);
    expect(scene.gateway.takeCalls()).toEqual([]);
    scene.cluster.visibility.clear();
    await scene.settle(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
  });

  it("keeps nothing if the cluster has no definition of it, and so no object", async () => {
    const policy = await scene.given(IPPolicy, "office");
    scene.cluster.visibility.set("HTTPSEdgeRoute", "NotDefined");
    await deleted(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
  });
});

describe("an address", () => {
  const addr = "1.TCP.example:1";

  it.each([
    ["has dropped it", {}],
    ["names it as an address of its own", { hostports: ["1.tcp.example:1"] }],
  ])("is used by an edge that listens on it, whose object %s", async (_, spec) => {
    const address = await scene.given(ReservedAddress, "db");
    scene.gateway.change(ReservedAddress.resource, scene.idOf(address), { addr });
    await scene.resync(ReservedAddress, address);
    const edge = await scene.given(TCPEdge, "db", { addressRefs: [{ name: "db" }] });
    scene.gateway.change(TCPEdge.resource, scene.idOf(edge), { hostports: ["1.tcp.example:1"] });
    scene.cluster.apply(TCPEdge, "db", spec);
    await scene.resync(TCPEdge);
    await deleted(address);
    expect(scene.reason(address)).toMatch(/^InUse: .*TCPEdge "db"/);
    expect(scene.gateway.takeCalls()).not.toContain(`delete ${scene.idOf(address)}`);
    await scene.apply(TCPEdge, "db", {});
    await scene.settle(address, 3);
    expect(scene.cluster.exists(address)).toBe(false);
  });
});

it("an address that the account has changed is still used by an edge that listens on the former one", async () => {
  const listensOn = (hostports: string[]) => ({ hostports });
  const address = await scene.given(ReservedAddress, "db");
  scene.gateway.change(ReservedAddress.resource, scene.idOf(address), { addr: "1.tcp.example:1" });
  await scene.resync(ReservedAddress, address);
  scene.gateway.change(ReservedAddress.resource, scene.idOf(address), { addr: "2.tcp.example:2" });
  await scene.resync(ReservedAddress);
  const edge = scene.gateway.seed(TCPEdge.resource, listensOn(["1.tcp.example:1"]));
  await deleted(address);
  expect(scene.reason(address)).toMatch(/^InUse: /);
  scene.gateway.change(TCPEdge.resource, edge.id, listensOn(["2.tcp.example:2"]));
  await scene.clock.advance(60_000);
  await scene.reconcile(address);
  expect(scene.reason(address)).toMatch(/^InUse: /);
  scene.gateway.change(TCPEdge.resource, edge.id, listensOn([]));
  await scene.settle(address, 20);
  expect(scene.cluster.exists(address)).toBe(false);
});

describe("a policy that an edge still has", () => {
  let policy: ManagedObject;
  let id: string;

  beforeEach(async () => {
    policy = await scene.given(IPPolicy, "office");
    id = scene.idOf(policy);
  });

  /** It waits, for whatever time, and goes when the edge is gone. */
  async function waitsFor(named: string, edge: string): Promise<void> {
    for (let day = 0; day < 3; day += 1) {
      expect(await scene.reconcile(policy)).toHaveProperty("requeueAfterSeconds");
      expect(scene.reason(policy)).toMatch(/^(InUse|Deleting): /);
      expect(scene.reason(policy)).toContain(named);
      await scene.clock.advance(86_400_000);
    }
    expect(scene.gateway.takeCalls()).not.toContain(`delete ${id}`);
    scene.gateway.drop(TCPEdge.resource, edge);
    await scene.resync(TCPEdge);
    await scene.settle(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
    expect(exists(IPPolicy, id)).toBe(false);
  }

  it.each<[string, ManagedObject["spec"]]>([
    ["since it was adopted", { adopt: { id: "edgtcp_9" }, ...restricted("office") }],
    ["since its spec says so", { deletionPolicy: "Retain", ...restricted("office") }],
  ])("stays while that edge was retained, %s", async (_, spec) => {
    if (spec.adopt) scene.gateway.put(TCPEdge.resource, { id: "edgtcp_9" });
    const edge = await scene.given(TCPEdge, "db", spec);
    const edgeID = scene.idOf(edge);
    scene.cluster.delete(policy);
    await deleted(edge);
    expect(scene.cluster.exists(edge)).toBe(false);
    await waitsFor(`TCP edge ${edgeID}`, edgeID);
  });

  it("stays while the edge is paused in its deletion", async () => {
    const edge = await scene.given(TCPEdge, "db", restricted("office"));
    scene.cluster.annotateByHand(edge, annotations.paused, "true");
    scene.cluster.delete(edge);
    await deleted(policy);
    expect(scene.reason(policy)).toBe('InUse: Delete or change TCPEdge "db" first: it uses this IPPolicy');
    await waitsFor('TCPEdge "db"', scene.idOf(edge));
  });

  it("stays while the edge cannot be deleted", async () => {
    const edge = await scene.given(TCPEdge, "db", restricted("office"));
    scene.gateway.refuse("delete", 503);
    await deleted(edge);
    await deleted(policy);
    expect(scene.reason(policy)).toBe('Deleting: Waiting for TCPEdge "db" to be deleted first: it uses this IPPolicy');
    await waitsFor('TCPEdge "db"', scene.idOf(edge));
  });

  it.each([
    ["a person has made", undefined],
    ["another cluster has made", withOwnerMark(undefined, { cluster: "c2", namespace: "team-a", name: "db" })],
  ])("stays while %s that edge", async (_, metadata) => {
    const edge = scene.gateway.seed(TCPEdge.resource, { ...restriction(id), ...(metadata && { metadata }) });
    await deleted(policy);
    expect(scene.reason(policy)).toBe(
      `InUse: Ask who runs TCP edge ${edge.id} to change it first: it uses this IPPolicy`,
    );
    await waitsFor(`TCP edge ${edge.id}`, edge.id);
  });

  it("stays while the edge of another namespace has it, though its object was never looked at since", async () => {
    scene.cluster.apply(TCPEdge, "db", restrictedByID(id), { namespace: "team-b" });
    const edge = scene.cluster.get("TCPEdge", "team-b", "db") as ManagedObject;
    await scene.reconcile(edge);
    const edgeID = scene.idOf(edge);
    scene.cluster.apply(TCPEdge, "db", {}, { namespace: "team-b" });
    await deleted(policy);
    expect(scene.reason(policy)).toBe(
      "InUse: Ask who runs TCPEdge team-b/db to change it first: it uses this IPPolicy",
    );
    await waitsFor("TCPEdge team-b/db", edgeID);
  });

  it("stays while another namespace may just create that edge", async () => {
    scene.gateway.swallow("create");
    const edge = await scene.apply(TCPEdge, "db", restrictedByID(id), { namespace: "team-b" });
    for (const restart of [false, true]) {
      if (restart) scene.restart();
      await deleted(policy);
      expect(scene.reason(policy)).toMatch(/^InUse: .*TCPEdge team-b\/db/);
    }
    scene.cluster.delete(edge);
    await scene.reconcile(policy);
    expect(scene.reason(policy)).toMatch(/^Deleting: .*TCPEdge team-b\/db/);
    await scene.settle(edge);
    expect(scene.cluster.exists(edge)).toBe(false);
    await scene.settle(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
  });

  it.each<[string, (spec: ManagedObject["spec"]) => Promise<unknown>]>([
    ["may just create that edge", (spec) => scene.apply(TCPEdge, "edge", spec)],
    ["has not been looked at", async (spec) => scene.cluster.apply(TCPEdge, "edge", spec)],
  ])("stays while an object %s, and names one that only observes the policy", async (_, prepare) => {
    const office = await scene.given(IPPolicy, "observed");
    const id = scene.idOf(office);
    await scene.given(IPPolicy, "watcher", { adopt: { id }, managementPolicy: "ObserveOnly" });
    scene.gateway.swallow("create");
    await prepare(restricted("watcher"));
    await deleted(office);
    expect(scene.reason(office)).toMatch(/^InUse: Delete or change TCPEdge "edge" first/);
    expect(exists(IPPolicy, id)).toBe(true);
  });

  it("names, of two objects of the edge, the one that is not being deleted", async () => {
    for (const leaving of ["first", "second"]) {
      scene = new Scene();
      policy = await scene.given(IPPolicy, "office");
      const first = await scene.given(TCPEdge, "first");
      const second = scene.cluster.apply(TCPEdge, "second", {}, { finalizers: first.metadata.finalizers ?? [] });
      await scene.cluster.writeStatus(TCPEdge, second, first.status ?? {});
      scene.gateway.change(TCPEdge.resource, scene.idOf(first), restriction(scene.idOf(policy)));
      scene.cluster.delete(leaving === "first" ? first : second);
      await deleted(policy);
      const staying = leaving === "first" ? "second" : "first";
      expect(scene.reason(policy)).toBe(`InUse: Delete or change TCPEdge "${staying}" first: it uses this IPPolicy`);
    }
  });

  it("stays when somebody has added it since the latest list", async () => {
    const { id: edge } = scene.gateway.seed(TCPEdge.resource, {});
    await scene.resync(TCPEdge);
    scene.gateway.change(TCPEdge.resource, edge, { ip_restriction: { enabled: true, ip_policies: [{ id }] } });
    await scene.clock.advance(1);
    await deleted(policy);
    await waitsFor(`TCP edge ${edge}`, edge);
  });

  it("stays when a list has left out the edge", async () => {
    const edge = scene.gateway.seed(TCPEdge.resource, restriction(id));
    await scene.resync(TCPEdge);
    await scene.clock.advance(20_000);
    scene.gateway.drop(TCPEdge.resource, edge.id);
    scene.gateway.beforeCall = ({ verb }) => {
      if (verb === "get") scene.gateway.put(TCPEdge.resource, edge);
    };
    await deleted(policy);
    expect(scene.reason(policy)).toMatch(/^InUse: /);
    expect(scene.gateway.takeCalls()).toContain(`get ${edge.id}`);
    expect(exists(IPPolicy, id)).toBe(true);
  });

  it("stays when the first list of the process, of several pages, has left out an edge without an object", async () => {
    const { gateway } = scene;
    const theirs = gateway.seed(TCPEdge.resource, { description: "by hand", ...restriction(id) });
    for (let count = 0; count < 2; count += 1) gateway.seed(TCPEdge.resource, {});
    gateway.pageSize = 2;
    scene.restart();
    let pages = 0;
    gateway.beforeCall = ({ verb, resource }) => {
      if (verb !== "list" || resource !== TCPEdge.resource.name || ++pages !== 2) return;
      gateway.drop(TCPEdge.resource, gateway.remotesOf(TCPEdge.resource).at(-1)?.id ?? "");
    };
    await deleted(policy);
    expect(scene.reason(policy)).toMatch(new RegExp(`^InUse: .* ${theirs.id} `));
    expect(exists(IPPolicy, id)).toBe(true);
  });

  it("goes when it is gone from the account, although the edge still names it", async () => {
    scene.gateway.seed(TCPEdge.resource, restriction(id));
    scene.gateway.drop(IPPolicy.resource, id);
    await scene.resync(IPPolicy);
    await deleted(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
  });

  it("stays as an object while another one refers to it, also when it is gone from the account", async () => {
    await scene.given(TCPEdge, "db", restricted("office"));
    scene.gateway.drop(IPPolicy.resource, scene.idOf(policy));
    await scene.resync(IPPolicy);
    await scene.delete(policy);
    expect(scene.reason(policy)).toMatch(/^InUse: /);
  });

  it("is found out anew by each process", async () => {
    const edge = scene.gateway.seed(TCPEdge.resource, restriction(id));
    await deleted(policy);
    scene.restart();
    await scene.reconcile(policy);
    await waitsFor(`TCP edge ${edge.id}`, edge.id);
  });

  it("costs lists less and less often", async () => {
    scene.gateway.seed(TCPEdge.resource, restriction(id));
    scene.cluster.delete(policy);
    const perHour: number[] = [];
    for (let hour = 1; hour <= 3; hour += 1) {
      const end = scene.clock.now() + 3_600_000;
      while (scene.clock.now() < end) {
        const { requeueAfterSeconds = 0 } = (await scene.reconcile(policy)) as { requeueAfterSeconds?: number };
        await scene.clock.advance(requeueAfterSeconds * 1000);
      }
      perHour.push(listed().length);
    }
    // two kinds
    expect(perHour[0]).toBeLessThanOrEqual(2 * 30);
    expect(perHour[2]).toBeLessThanOrEqual(2 * 13);
  });
});

describe("what is asked before a deletion", () => {
  const certificate = { secretName: "tls" };

  it.each<[string, Kind, ManagedObject["spec"], Kind[]]>([
    ["an IP policy", IPPolicy, {}, [TCPEdge, TLSEdge]],
    ["a backend", TunnelGroupBackend, {}, [WeightedBackend, FailoverBackend, TCPEdge, TLSEdge]],
    ["a certificate", TLSCertificate, certificate, [ReservedDomain]],
    ["an event subscription", EventSubscription, {}, []],
    ["a domain", ReservedDomain, { domain: "a.example.com" }, []],
  ])("of %s is each kind that can have it, once", async (_, kind, spec, users) => {
    scene.cluster.setSecret("tls", keyPair("first"));
    const object = await scene.given(kind, "one", spec);
    await deleted(object);
    expect(scene.gateway.calls.filter(({ verb }) => verb !== "list")).toMatchObject([{ verb: "delete" }]);
    expect(listed().toSorted()).toEqual(users.map(({ resource }) => resource.name).toSorted());
    expect(scene.cluster.writes).toEqual(["removeFinalizer"]);
  });

  it("is nothing of an entry, which costs one DELETE and one write", async () => {
    await scene.given(EventSubscription, "audit");
    const source = await scene.given(EventSource, "one", { subscriptionRef: { name: "audit" }, type: "a_created.v0" });
    await deleted(source);
    expect(scene.gateway.calls.map(({ verb }) => verb)).toEqual(["deleteSource"]);
    expect(scene.cluster.writes).toEqual(["removeFinalizer"]);
  });

  it.each([1, 40])("is one list of each kind for 50 policies, asked %i at a time", async (together) => {
    const policies: ManagedObject[] = [];
    for (let index = 0; index < 50; index += 1) policies.push(await scene.given(IPPolicy, `p${index}`));
    scene.gateway.seed(TCPEdge.resource, restriction("ipp_1"));
    scene.resetCounts();
    for (const policy of policies) scene.cluster.delete(policy);
    for (let from = 0; from < 50; from += together) {
      await Promise.all(policies.slice(from, from + together).map((policy) => scene.reconcile(policy)));
      await scene.clock.advance(10);
    }
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toMatchObject([{ id: "ipp_1" }]);
    expect(scene.gateway.calls.filter(({ verb }) => verb === "delete")).toHaveLength(49);
    expect(listed().toSorted()).toEqual(["tcp_edges", "tls_edges"]);
  });

  it("is nothing while objects that refer to it stay, or are being deleted", async () => {
    const policy = await scene.given(IPPolicy, "office");
    const edge = await scene.given(TCPEdge, "db", restricted("office"));
    await deleted(policy);
    scene.cluster.delete(edge);
    await scene.reconcile(policy);
    expect(scene.gateway.takeCalls()).toEqual([]);
  });

  it("is what stands in an event subscription only where an object stands for it", async () => {
    const subscription = await scene.given(EventSubscription, "audit", { sources: [{ type: "a_created.v0" }] });
    const id = scene.idOf(subscription);
    const source = await scene.apply(
      EventSource,
      "one",
      { subscriptionRef: { id }, type: "b_created.v0" },
      { namespace: "team-b" },
    );
    await deleted(subscription);
    expect(scene.reason(subscription)).toMatch(/^InUse: .*EventSource team-b\/one/);
    await deleted(source);
    await scene.settle(subscription);
    expect(exists(EventSubscription, id)).toBe(false);
  });
});

describe("a subscription in which an object of another namespace names an entry", () => {
  const entryOf = (subscription: ManagedObject, more: object = {}): Promise<ManagedObject> => {
    const spec = { subscriptionRef: { id: scene.idOf(subscription) }, type: "a_created.v0", ...more };
    return scene.apply(EventSource, "one", spec, { namespace: "team-b" });
  };

  it.each<[string, object]>([
    ["has no right to it", {}],
    ["only observes it", { managementPolicy: "ObserveOnly" }],
  ])("goes when that object %s", async (_, more) => {
    const subscription = await scene.given(EventSubscription, "audit", { sources: [{ type: "a_created.v0" }] });
    scene.mayAdopt = false;
    await entryOf(subscription, more);
    await deleted(subscription);
    expect(scene.cluster.exists(subscription)).toBe(false);
  });

  it("stays while that object may just have made it", async () => {
    const subscription = await scene.given(EventSubscription, "audit");
    scene.gateway.loseAnswer("createSource");
    await entryOf(subscription);
    await deleted(subscription);
    expect(scene.reason(subscription)).toMatch(/^InUse: .*EventSource team-b\/one/);
  });
});

describe("what the API key may not list", () => {
  it.each<[string, Kind, ManagedObject["spec"]]>([
    ["an IP policy", IPPolicy, {}],
    ["an authority", CertificateAuthority, { caPem: keyPair("first")["tls.crt"] }],
    ["an address", ReservedAddress, {}],
  ])("keeps %s, since it may be open to everybody without", async (_, kind, spec) => {
    const objects = [await scene.given(kind, "one", spec), await scene.given(kind, "two", spec)];
    forbidLists("tls_edges");
    for (const object of objects) await deleted(object);
    for (const object of objects)
      expect(scene.reason(object)).toMatch(/^Forbidden: Allow the API key to read TLS edges: /);
    expect(scene.gateway.remotesOf(kind.resource)).toHaveLength(2);
    expect(listed().filter((resource) => resource === "tls_edges")).toHaveLength(1);
    forbidLists();
    await scene.clock.advance(1800_000);
    for (const object of objects) await scene.reconcile(object);
    expect(scene.gateway.remotesOf(kind.resource)).toEqual([]);
  });

  it("keeps a policy for the routes that objects name", async () => {
    const { id: routeId } = scene.gateway.seed(HTTPSEdgeRoute.resource, {});
    await scene.given(HTTPSEdgeRoute, "route", { edgeId: "edghts_1", routeId });
    const policy = await scene.given(IPPolicy, "office");
    forbidLists("route_ip_restriction");
    await deleted(policy);
    expect(scene.reason(policy)).toMatch(/^Forbidden: Allow the API key to read HTTPS edge routes: /);
  });

  it("does not keep a backend, whose users are only interrupted, and which the service knows of", async () => {
    const backend = await scene.given(TunnelGroupBackend, "web");
    forbidLists("tcp_edges", "tls_edges");
    await deleted(backend);
    expect(scene.cluster.exists(backend)).toBe(false);
    expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)).toEqual([]);
  });

  it("does not keep a namespace from going away", async () => {
    const policy = await scene.given(IPPolicy, "office");
    scene.cluster.namespaceDeleting = true;
    forbidLists("tcp_edges");
    await deleted(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
    expect(scene.cluster.events).toMatchObject([{ type: "Warning", reason: "Forbidden" }]);
  });
});

it.each<[string, Kind, ManagedObject["spec"], object[]]>([
  [
    "says that routes which no object names cannot be seen",
    IPPolicy,
    {},
    [
      {
        type: "Normal",
        reason: "Deleting",
        action: "Delete",
        note: "Look for any HTTPS edge route that no object names and that used ipp_1, which is deleted: no list shows it",
      },
    ],
  ],
  ["says nothing where all users can be seen", TunnelGroupBackend, { labels: { app: "web" } }, []],
])("a deletion %s", async (_, kind, spec, events) => {
  await deleted(await scene.given(kind, "one", spec));
  expect(scene.cluster.events).toEqual(events);
});

it("an authority that was replaced stays while an edge without an object has it", async () => {
  const caPem = (name: "first" | "second") => ({ caPem: keyPair(name)["tls.crt"] });
  const authority = await scene.given(CertificateAuthority, "partners", caPem("first"));
  const old = scene.idOf(authority);
  const mutualTLS = { mutual_tls: { enabled: true, certificate_authority_ids: [old] } };
  const { id } = scene.gateway.seed(TLSEdge.resource, mutualTLS);
  scene.cluster.apply(CertificateAuthority, "partners", caPem("second"));
  await scene.settle(authority, 5);
  expect(scene.idOf(authority)).not.toBe(old);
  expect(scene.cluster.now(authority).status?.["retiring"]).toEqual([old]);
  expect(exists(CertificateAuthority, old)).toBe(true);
  scene.gateway.drop(TLSEdge.resource, id);
  await scene.clock.advance(300_000);
  await scene.settle(authority, 3);
  expect(exists(CertificateAuthority, old)).toBe(false);
});

it("a list with rows that nobody can read keeps a policy, and no backend", async () => {
  const policy = await scene.given(IPPolicy, "office");
  const backend = await scene.given(TunnelGroupBackend, "web");
  const { id } = scene.gateway.seed(TCPEdge.resource, restriction(scene.idOf(policy)));
  scene.gateway.unreadable.add(id);
  await deleted(policy);
  await deleted(backend);
  expect(scene.reason(policy)).toMatch(/^UnexpectedResponse: .*TCP edges/);
  expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
  expect(scene.cluster.exists(backend)).toBe(false);
  scene.gateway.unreadable.clear();
  scene.gateway.drop(TCPEdge.resource, id);
  await scene.clock.advance(300_000);
  await scene.reconcile(policy);
  expect(scene.cluster.exists(policy)).toBe(false);
});

describe("a namespace that goes away", () => {
  const left = (): string[] =>
    scene.cluster.events
      .filter(({ note }) => note.startsWith("Left"))
      .map(({ type, reason, note }) => `${type} ${reason}: ${note}`);

  beforeEach(() => {
    scene.cluster.namespaceDeleting = true;
  });

  it.each<[string, ManagedObject["spec"], string]>([
    ["it is retained", { deletionPolicy: "Retain" }, "team-a"],
    ["another namespace has it", {}, "team-b"],
  ])("leaves a policy to the edge that stays, since %s", async (_, spec, namespace) => {
    const policy = await scene.given(IPPolicy, "office");
    const id = scene.idOf(policy);
    await scene.reconcile(scene.cluster.apply(TCPEdge, "db", { ...spec, ...restrictedByID(id) }, { namespace }));
    scene.resetCounts();
    await deleted(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
    expect(exists(IPPolicy, id)).toBe(true);
    const name = namespace === "team-b" ? "TCPEdge team-b/db" : 'TCPEdge "db"';
    expect(left()).toEqual([
      `Warning InUse: Left ${id} in the account: ${name} uses it and stays, and the namespace goes away`,
    ]);
  });

  it("names all that stay", async () => {
    const policy = await scene.given(IPPolicy, "office");
    const id = scene.idOf(policy);
    for (const name of ["db", "web"])
      await scene.apply(TCPEdge, name, { ...restrictedByID(id), deletionPolicy: "Retain" });
    await deleted(policy);
    expect(left()).toEqual([
      `Warning InUse: Left ${id} in the account: TCPEdge "db", TCPEdge "web" use it and stay, and the namespace goes away`,
    ]);
  });

  it.each([
    ["which is not being deleted yet", (_: ManagedObject) => {}],
    ["which is paused", (edge: ManagedObject) => scene.cluster.annotateByHand(edge, annotations.paused, "true")],
  ])("waits for its own edge, %s", async (_, prepare) => {
    const policy = await scene.given(IPPolicy, "office");
    const edge = await scene.given(TCPEdge, "db", restricted("office"));
    prepare(edge);
    await deleted(policy);
    expect(scene.reason(policy)).toMatch(/^InUse: /);
    expect(left()).toEqual([]);
  });

  it("waits for the edge of another one that goes away as well", async () => {
    const policy = await scene.given(IPPolicy, "office");
    const edge = await scene.apply(TCPEdge, "db", restrictedByID(scene.idOf(policy)), { namespace: "team-b" });
    scene.cluster.otherNamespacesDeleting.add("team-b");
    await deleted(policy);
    expect(scene.reason(policy)).toMatch(/^InUse: /);
    await deleted(edge);
    await scene.settle(policy);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
  });

  it("does not wait for an object elsewhere that is itself in use", async () => {
    const web = await scene.given(TunnelGroupBackend, "web");
    const id = scene.idOf(web);
    const split = await scene.apply(
      WeightedBackend,
      "split",
      { backends: [{ backendRef: { id }, weight: 1 }] },
      { namespace: "team-b" },
    );
    scene.gateway.seed(TCPEdge.resource, { backend: { enabled: true, backend_id: scene.idOf(split) } });
    await scene.clock.advance(20_000);
    await deleted(split);
    expect(scene.reason(split)).toMatch(/^InUse: /);
    await deleted(web);
    expect(scene.cluster.exists(web)).toBe(false);
    expect(exists(TunnelGroupBackend, id)).toBe(true);
  });
});

describe("a message about users", () => {
  it("names three of them, those that stay first, and has at most 200 characters", async () => {
    const policy = await scene.given(IPPolicy, "office");
    const id = scene.idOf(policy);
    const long = "x".repeat(240);
    for (const name of ["a", "b", "c"]) scene.gateway.seed(TCPEdge.resource, { ...restriction(id), description: name });
    const going = await scene.given(TCPEdge, "going", restricted("office"));
    scene.cluster.delete(going);
    scene.cluster.apply(TCPEdge, "going", {});
    await scene.clock.advance(20_000);
    await deleted(policy);
    expect(scene.reason(policy)).toBe(
      "InUse: Ask who runs TCP edge edgtcp_2, TCP edge edgtcp_3, TCP edge edgtcp_4 and 1 more to change them first: they use this IPPolicy",
    );
    const other = await scene.given(IPPolicy, "home");
    scene.cluster.apply(TCPEdge, long, restricted("home"));
    scene.cluster.apply(TCPEdge, `${long}y`, restricted("home"));
    await deleted(other);
    const message = scene.condition(other, "Ready")?.message ?? "";
    expect(message.length).toBeLessThanOrEqual(200);
    expect(message).toMatch(/^Delete or change TCPEdge "x+… and 1 more first: they use this IPPolicy$/);
  });
});
