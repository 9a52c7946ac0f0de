import { beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { APIKey } from "../../kinds/api-key.ts";
import { CertificateAuthority } from "../../kinds/certificate-authority.ts";
import { EventDestination } from "../../kinds/event-destination.ts";
import { FailoverBackend } from "../../kinds/failover-backend.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { kinds } from "../../kinds/index.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedAddress } from "../../kinds/reserved-address.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { SSHHostCertificate } from "../../kinds/ssh-host-certificate.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import type { ManagedObject, Status } from "../../objects/object.ts";
import { Store } from "../../runtime/cache/store.ts";
import { annotations, FINALIZER } from "../../schema/contract.ts";
import { defineKind, type Kind } from "../../schema/define.ts";
import { refTo } from "../../schema/fields.ts";
import { text } from "../../schema/status.ts";
import { type Informers, indexersOf } from "../kubernetes/indexes.ts";
import { requestsByIndex, requestsFor } from "./watch-mapping.ts";

let stores: Map<string, Store<ManagedObject>>;
let informers: Informers;
let cached: { kinds: readonly Kind[]; informers: Informers };
let revision: number;

const Pool = defineKind({ ...IPPolicy, kind: "Pool", status: z.object({ range: text("Its addresses.") }) });
const Firewall = defineKind({
  ...IPPolicy,
  kind: "Firewall",
  spec: z.object({ poolRef: refTo("Pool", { statusField: "range" }) }),
});

beforeEach(() => {
  revision = 0;
  const all = [...kinds, Pool, Firewall];
  stores = new Map(all.map((kind) => [kind.kind, new Store<ManagedObject>({ indexers: indexersOf(kind) })]));
  // requestsFor uses only the store of an informer
  informers = new Map([...stores].map(([kind, store]) => [kind, { store }])) as unknown as Informers;
  cached = { kinds: all, informers };
});

interface More {
  spec?: ManagedObject["spec"];
  status?: Status;
  metadata?: Partial<ManagedObject["metadata"]>;
}

function object(kind: Kind, name: string, { spec = {}, status, metadata }: More = {}): ManagedObject {
  revision += 1;
  return {
    apiVersion: "tunnelgateway.dev/v1",
    kind: kind.kind,
    spec,
    metadata: {
      name,
      namespace: "n",
      uid: `${kind.kind}-${name}`,
      generation: 1,
      resourceVersion: String(revision),
      ...metadata,
    },
    ...(status && { status }),
  };
}

function given(kind: Kind, name: string, more?: More): ManagedObject {
  const made = object(kind, name, more);
  stores.get(kind.kind)?.put(made);
  return made;
}

const deleting = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [FINALIZER] };
const restricted = (name: string) => ({ ipRestriction: { enabled: true, ipPolicyRefs: [{ name }] } });

const updated = (kind: Kind, old: ManagedObject, now: ManagedObject): string[] =>
  requestsFor(kind, { type: "updated", old, object: now, initial: false }, cached).map(
    ({ kind: of, key }) => `${of} ${key}`,
  );

const removed = (kind: Kind, gone: ManagedObject): string[] =>
  requestsFor(kind, { type: "deleted", object: gone, initial: false }, cached).map(
    ({ kind: of, key }) => `${of} ${key}`,
  );

describe("a cycle of references", () => {
  const refs = (...names: string[]): More => ({
    spec: { backendRefs: names.map((name) => ({ kind: "FailoverBackend", name })) },
  });
  const stuck: Status = {
    conditions: [{ type: "Ready", status: "False", reason: "ReferenceCycle", message: "", lastTransitionTime: "" }],
  };
  const keysOf = (change: Parameters<typeof requestsFor>[1]): string[] => [
    ...new Set(requestsFor(FailoverBackend, change, cached).map(({ key }) => key)),
  ];

  it("is told to all of its objects by a new object that closes it", () => {
    given(FailoverBackend, "a", refs("b"));
    given(FailoverBackend, "b", refs("c"));
    given(FailoverBackend, "waits", refs("a"));
    const made = given(FailoverBackend, "c", refs("a"));
    expect(keysOf({ type: "added", object: made, initial: false }).sort()).toEqual(["n/a", "n/b", "n/c"]);
  });

  it("is told to all of its objects by an edit that closes it", () => {
    given(FailoverBackend, "a", refs("b"));
    given(FailoverBackend, "b", refs("c"));
    const old = given(FailoverBackend, "c", refs());
    const now = given(FailoverBackend, "c", { ...refs("a"), metadata: { generation: 2 } });
    expect(keysOf({ type: "updated", old, object: now, initial: false }).sort()).toEqual(["n/a", "n/b", "n/c"]);
  });

  it.each<[string, (old: ManagedObject) => Parameters<typeof requestsFor>[1]]>([
    ["an edit", (old) => ({ type: "updated", old, object: given(FailoverBackend, "c", refs()), initial: false })],
    ["a deletion", (old) => ({ type: "deleted", object: old, initial: false })],
    [
      "an id",
      (old) => ({
        type: "updated",
        old,
        initial: false,
        object: given(FailoverBackend, "c", { ...refs("a"), status: { id: "bkdfo_1" } }),
      }),
    ],
  ])("is looked at again by all that were stuck when %s opens it", (_, change) => {
    given(FailoverBackend, "a", { ...refs("b"), status: stuck });
    given(FailoverBackend, "b", { ...refs("c"), status: stuck });
    const old = given(FailoverBackend, "c", { ...refs("a"), status: stuck });
    expect(keysOf(change(old))).toEqual(expect.arrayContaining(["n/a", "n/b"]));
  });

  it.each<[string, More, string[]]>([
    ["is looked at again by one that says so after its end", refs(), ["n/a"]],
    ["is not looked at again by one that says so while it lasts", refs("a"), []],
  ])("%s", (_, last, requests) => {
    const old = given(FailoverBackend, "a", refs("b"));
    given(FailoverBackend, "b", last);
    const now = given(FailoverBackend, "a", { ...refs("b"), status: stuck });
    expect(keysOf({ type: "updated", old, object: now, initial: false })).toEqual(requests);
  });
});

describe("an object", () => {
  it.each([
    ["is enqueued for the edit lane when it is new", false, "edit"],
    ["is enqueued for the sync lane when it existed at the start", true, "sync"],
  ])("%s", (_, initial, expected) => {
    const made = given(IPPolicy, "a");
    expect(requestsFor(IPPolicy, { type: "added", object: made, initial }, cached)).toEqual([
      { kind: "IPPolicy", key: "n/a", lane: expected },
    ]);
  });

  it.each<[string, More]>([
    ["an edit", { metadata: { generation: 2 } }],
    ["a deletion", { metadata: deleting }],
    ["being paused", { metadata: { annotations: { [annotations.paused]: "true" } } }],
    ["the orphan annotation", { metadata: { annotations: { [annotations.orphan]: "true" } } }],
    ["an annotation of ours that nobody knows", { metadata: { annotations: { "tunnelgateway.dev/orphaned": "1" } } }],
    ["a label that may be meant as an annotation", { metadata: { labels: { [annotations.paused]: "true" } } }],
    ["a requested reconcile", { metadata: { annotations: { [annotations.reconcileRequestedAt]: "now" } } }],
  ])("is enqueued after %s", (_, more) => {
    expect(updated(IPPolicy, object(IPPolicy, "a"), object(IPPolicy, "a", more))).toEqual(["IPPolicy n/a"]);
  });

  it("is enqueued when somebody removed its finalizer", () => {
    const held = object(IPPolicy, "a", { metadata: { finalizers: [FINALIZER] } });
    expect(updated(IPPolicy, held, object(IPPolicy, "a"))).toEqual(["IPPolicy n/a"]);
  });

  it.each<[string, More]>([
    ["the operator's own writes", { status: { id: "ipp_1" }, metadata: { finalizers: [FINALIZER] } }],
    ["its own intent", { metadata: { annotations: { [annotations.createIntent]: "now" } } }],
    ["annotations and labels of others", { metadata: { annotations: { other: "x" }, labels: { other: "x" } } }],
  ])("is not enqueued after %s", (_, more) => {
    expect(updated(IPPolicy, object(IPPolicy, "a"), object(IPPolicy, "a", more))).toEqual([]);
  });

  it("is not enqueued after it is gone", () => {
    expect(removed(IPPolicy, object(IPPolicy, "a"))).toEqual([]);
  });
});

describe("a younger object that listens on the same address", () => {
  const made = (creationTimestamp: string, more: object = {}) => ({ creationTimestamp, ...more });
  const on = (...hostports: string[]): More => ({ status: { hostports }, metadata: made("2026-01-01T00:00:00Z") });

  beforeEach(() => {
    for (const [kind, name, time] of [
      [TLSEdge, "younger", "2026-01-02T00:00:00Z"],
      [TCPEdge, "older", "2025-01-02T00:00:00Z"],
    ] as const)
      given(kind, name, { status: { hostports: ["Shop.example:443"] }, metadata: made(time) });
  });

  it.each<[string, More, More, string[]]>([
    [
      "is enqueued when the older one begins to, and when it begins itself, as it may have looked too early",
      on(),
      on("shop.example:443"),
      ["TCPEdge n/db", "TLSEdge n/younger"],
    ],
    ["is enqueued when the older one ends to", on("shop.example:443"), on("a.example:1"), ["TLSEdge n/younger"]],
    ["is not enqueued for another address", on(), on("a.example:1"), []],
    ["is not enqueued while nothing changes there", on("shop.example:443"), on("SHOP.example:443"), []],
  ])("%s", (_, before, after, requests) => {
    expect(updated(TCPEdge, object(TCPEdge, "db", before), object(TCPEdge, "db", after))).toEqual(requests);
  });

  it("is enqueued when the older one is deleted or gone", () => {
    const before = on("shop.example:443");
    const after = { ...before, metadata: made("2026-01-01T00:00:00Z", deleting) };
    expect(removed(TCPEdge, object(TCPEdge, "db", before))).toEqual(["TLSEdge n/younger"]);
    expect(updated(TCPEdge, object(TCPEdge, "db", before), object(TCPEdge, "db", after))).toContain(
      "TLSEdge n/younger",
    );
  });
});

describe("objects that refer to another one", () => {
  beforeEach(() => void given(TCPEdge, "db", { spec: restricted("office") }));

  it("are enqueued when it gets an id, and when it gets another", () => {
    const [none, first, second] = [undefined, { id: "ipp_1" }, { id: "ipp_2" }].map((status) =>
      object(IPPolicy, "office", status && { status }),
    ) as [ManagedObject, ManagedObject, ManagedObject];
    expect(updated(IPPolicy, none, first)).toEqual(["TCPEdge n/db"]);
    expect(updated(IPPolicy, first, second)).toEqual(["TCPEdge n/db"]);
  });

  it("are enqueued when it is created, deleted or gone", () => {
    const policy = object(IPPolicy, "office");
    const requests = requestsFor(IPPolicy, { type: "added", object: policy, initial: false }, cached);
    expect(requests.map(({ key }) => key)).toEqual(["n/office", "n/db"]);
    expect(removed(IPPolicy, policy)).toEqual(["TCPEdge n/db"]);
    expect(updated(IPPolicy, policy, object(IPPolicy, "office", { metadata: deleting }))).toContain("TCPEdge n/db");
  });

  it("are not enqueued when something else of its status changes", () => {
    const ready = object(IPPolicy, "office", { status: { id: "ipp_1", observedGeneration: 2 } });
    expect(updated(IPPolicy, object(IPPolicy, "office", { status: { id: "ipp_1" } }), ready)).toEqual([]);
  });

  it("are not enqueued for it at the start, when all objects are enqueued anyway", () => {
    const requests = requestsFor(
      IPPolicy,
      { type: "added", object: object(IPPolicy, "office"), initial: true },
      cached,
    );
    expect(requests.map(({ key }) => key)).toEqual(["n/office"]);
  });

  it("are found by its kind, namespace and name", () => {
    const status = { id: "x_1" };
    const elsewhere = { namespace: "other" };
    expect(
      updated(
        TunnelGroupBackend,
        object(TunnelGroupBackend, "office"),
        object(TunnelGroupBackend, "office", { status }),
      ),
    ).toEqual([]);
    expect(updated(IPPolicy, object(IPPolicy, "home"), object(IPPolicy, "home", { status }))).toEqual([]);
    expect(
      updated(
        IPPolicy,
        object(IPPolicy, "office", { metadata: elsewhere }),
        object(IPPolicy, "office", { metadata: elsewhere, status }),
      ),
    ).toEqual([]);
  });

  it.each<[string, Kind, Kind, ManagedObject["spec"]]>([
    ["addr", ReservedAddress, TCPEdge, { addressRefs: [{ name: "one" }] }],
    ["range", Pool, Firewall, { poolRef: { name: "one" } }],
  ])(
    "are enqueued when the status field that they send changes, here %s, and for no other",
    (field, target, kind, spec) => {
      given(kind, "web", { spec });
      const before = object(target, "one", { status: { id: "x_1", [field]: "old" } });
      expect(updated(target, before, object(target, "one", { status: { id: "x_1", [field]: "new" } }))).toEqual([
        `${kind.kind} n/web`,
      ]);
      expect(updated(target, before, object(target, "one", { status: { id: "x_2", [field]: "old" } }))).toEqual([]);
    },
  );
});

describe("users of a Secret", () => {
  const readers = (secret: string): string[] =>
    requestsByIndex(informers, "references", secret).map(({ kind, key }) => `${kind} ${key}`);
  const ref = { name: "shared", key: "k" };

  beforeEach(() => {
    given(EventDestination, "monitoring", { spec: { target: { monitoring: { apiKeyRef: ref, service: "s" } } } });
    given(HTTPSEdgeRoute, "login", {
      spec: { oidc: { clientSecretRef: ref }, webhookVerification: { secretRef: ref } },
    });
    given(CertificateAuthority, "clients", { spec: { caPemFrom: { secretKeyRef: ref } } });
    given(TLSCertificate, "site", { spec: { secretName: "shared" } });
    given(APIKey, "ci", { spec: { tokenSecretName: "shared" } });
    given(SSHHostCertificate, "host", { spec: { certificateSecretName: "shared" } });
  });

  it("refer to it at any depth of the spec, or have it written, and are found once", () => {
    expect(readers("Secret/n/shared").sort()).toEqual([
      "APIKey n/ci",
      "CertificateAuthority n/clients",
      "EventDestination n/monitoring",
      "HTTPSEdgeRoute n/login",
      "SSHHostCertificate n/host",
      "TLSCertificate n/site",
    ]);
  });

  it("are not found for another Secret, another namespace, or another kind of that name", () => {
    given(CertificateAuthority, "public", { spec: { caPemFrom: { configMapKeyRef: { name: "other", key: "k" } } } });
    for (const secret of ["Secret/n/other", "Secret/elsewhere/shared", "APIKey/n/shared"]) {
      expect(readers(secret)).toEqual([]);
    }
  });
});

describe("objects being deleted", () => {
  beforeEach(() => void given(IPPolicy, "office", { metadata: deleting }));

  const edge = (name?: string, more: More = {}) =>
    object(TCPEdge, "db", { ...more, ...(name && { spec: restricted(name) }) });

  it("are enqueued when a referrer is gone, or refers to another object", () => {
    expect(removed(TCPEdge, edge("office"))).toEqual(["IPPolicy n/office"]);
    expect(updated(TCPEdge, edge("office"), edge("home"))).toEqual(["IPPolicy n/office"]);
    expect(updated(TCPEdge, edge("office"), edge())).toEqual(["IPPolicy n/office"]);
  });

  it("are enqueued when a referrer is being deleted as well", () => {
    expect(updated(TCPEdge, edge("office"), edge("office", { metadata: deleting }))).toContain("IPPolicy n/office");
  });

  it("are not enqueued while a referrer still refers to them", () => {
    expect(updated(TCPEdge, edge("office"), edge("office", { status: { id: "edgtcp_1" } }))).toEqual([]);
  });

  it("are the only targets that are enqueued for a referrer", () => {
    given(IPPolicy, "home");
    expect(removed(TCPEdge, edge("home"))).toEqual([]);
  });
});

describe("other objects of the same remote", () => {
  it("are enqueued when the object that managed it no longer has it", () => {
    given(IPPolicy, "rival", { status: { id: "ipp_1" } });
    const holder = object(IPPolicy, "holder", { status: { id: "ipp_1" } });
    expect(removed(IPPolicy, holder)).toEqual(["IPPolicy n/rival"]);
    expect(updated(IPPolicy, holder, object(IPPolicy, "holder", { status: { id: "ipp_2" } }))).toEqual([
      "IPPolicy n/rival",
    ]);
    expect(updated(IPPolicy, holder, object(IPPolicy, "holder", { status: { id: "ipp_1", drift: [] } }))).toEqual([]);
  });

  it("are enqueued when they are to adopt it, or want its name, and the object that has it ends or lets go of it", () => {
    const domain = "a.example.com";
    given(ReservedDomain, "adopter", { spec: { domain: "other.example.com", adopt: { id: "rd_1" } } });
    given(ReservedDomain, "namesake", { spec: { domain } });
    const others = ["ReservedDomain n/adopter", "ReservedDomain n/namesake"];
    const having = (more: More = {}) =>
      object(ReservedDomain, "holder", { ...more, spec: { domain, ...more.spec }, status: { id: "rd_1" } });
    expect(removed(ReservedDomain, having())).toEqual(others);
    const released = { metadata: { annotations: { [annotations.releaseTo]: "n/adopter" } } };
    const observing = { spec: { managementPolicy: "ObserveOnly" }, metadata: { generation: 2 } } as const;
    for (const more of [released, observing])
      expect(updated(ReservedDomain, having(), having(more))).toEqual(["ReservedDomain n/holder", ...others]);
  });

  it("are enqueued when the object that managed its modules has none of them any more", () => {
    const place = { edgeId: "edghts_1", routeId: "edghtsrt_1" };
    const id = "edghts_1/edghtsrt_1";
    given(HTTPSEdgeRoute, "rival", { spec: { ...place, oidc: {} } });
    const route = (spec: object, appliedFields?: string[]) =>
      object(HTTPSEdgeRoute, "route", {
        spec: { ...place, ...spec },
        status: { id, ...(appliedFields && { appliedFields }) },
      });
    const [whole, dropped] = [route({ oidc: {} }, ["oidc"]), route({}, ["oidc"])];
    expect(updated(HTTPSEdgeRoute, whole, dropped)).not.toContain("HTTPSEdgeRoute n/rival");
    expect(updated(HTTPSEdgeRoute, dropped, route({}))).toContain("HTTPSEdgeRoute n/rival");
  });
});
