import { AgentIngress } from "../../../src/kinds/agent-ingress.ts";
import { EventDestination } from "../../../src/kinds/event-destination.ts";
import { EventSource } from "../../../src/kinds/event-source.ts";
import { EventSubscription } from "../../../src/kinds/event-subscription.ts";
import { IPPolicy } from "../../../src/kinds/ip-policy.ts";
import { ReservedAddress } from "../../../src/kinds/reserved-address.ts";
import { ReservedDomain } from "../../../src/kinds/reserved-domain.ts";
import { SSHCredential } from "../../../src/kinds/ssh-credential.ts";
import { TCPEdge } from "../../../src/kinds/tcp-edge.ts";
import { TLSCertificate } from "../../../src/kinds/tls-certificate.ts";
import { TLSEdge } from "../../../src/kinds/tls-edge.ts";
import { TunnelGroupBackend } from "../../../src/kinds/tunnel-group-backend.ts";
import type { Condition, ManagedObject } from "../../../src/objects/object.ts";
import { annotations, OWNER_KEY } from "../../../src/schema/contract.ts";
import type { Kind } from "../../../src/schema/define.ts";

// One account and cluster for the goldens of all commands: what is settled, what has drifted, what waits, what is left
// behind, what nobody manages, and names that are long.

interface Given {
  id?: string;
  /** Why it is not Ready. */
  failure?: { reason: string; message: string; stalled?: true };
  drift?: string;
  /** Its create was sent. */
  intent?: true;
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

const at = "2026-01-10T11:30:00Z";

const refusal = {
  reason: "InvalidSpec",
  message: "Correct the spec: the service refused it: The address 5.tcp.gateway.example:20413 is in use",
};

function object(
  kind: Kind,
  name: string,
  { id, failure, drift, intent, spec = {}, status = {} }: Given,
): ManagedObject {
  const condition = (type: string, isTrue: boolean, reason: string, message: string): Condition => ({
    type,
    status: isTrue ? "True" : "False",
    reason,
    message,
    lastTransitionTime: at,
    observedGeneration: 1,
  });
  const { reason = "Available", message = "Exists in the account as specified" } = failure ?? {};
  return {
    apiVersion: "tunnelgateway.dev/v1",
    kind: kind.kind,
    metadata: {
      namespace: "shop",
      name,
      uid: `uid-${kind.kind}-${name}`,
      generation: 1,
      resourceVersion: "7",
      finalizers: ["tunnelgateway.dev/remote"],
      ...(intent && { annotations: { [annotations.createIntent]: `${at}/${at} account=` } }),
    },
    spec,
    status: {
      ...(id !== undefined && { id, origin: "Created" }),
      appliedFields: Object.keys(spec),
      observedGeneration: 1,
      conditions: [
        condition("Ready", failure === undefined, reason, message),
        condition("Synced", failure === undefined, reason, message),
        ...(failure?.stalled ? [condition("Stalled", true, reason, message)] : []),
        ...(drift ? [condition("Drifted", true, "RemoteDiffers", drift)] : []),
      ],
      ...status,
    },
  };
}

const mark = (name: string) => JSON.stringify({ [OWNER_KEY]: `c1/shop/${name}` });

/** The objects, by kind. */
export const objects: ReadonlyMap<Kind, ManagedObject[]> = new Map<Kind, ManagedObject[]>([
  [
    IPPolicy,
    [
      object(IPPolicy, "office", {
        id: "ipp_2leg4kyX69U6IswsdjKIohVXiFIz",
        spec: { description: "Everybody who works in the office, and those at home by way of its network" },
        drift: "Put spec.description right in the account, or set driftPolicy: Correct: somebody else has changed it",
      }),
      object(IPPolicy, "lost", { id: "ipp_3mf1r1Yzc1qHuyVkuYFvY6FXoLI" }),
    ],
  ],
  [ReservedAddress, [object(ReservedAddress, "db", { id: "ra_1", status: { addr: "5.tcp.gateway.example:20413" } })]],
  [
    TCPEdge,
    [
      object(TCPEdge, "db", {
        id: "edgtcp_QiNPhxuxtcnuGo5a4IBvoKsc6MF",
        spec: {
          hostports: ["5.tcp.gateway.example:20413"],
          ipRestriction: { enabled: true, ipPolicyRefs: [{ name: "office" }] },
        },
      }),
      object(TCPEdge, "refused", {
        spec: { hostports: ["5.tcp.gateway.example:20413"] },
        failure: { ...refusal, stalled: true },
        // of the create that this spec asks for
        status: { refusedRequest: { digest: "d0ec54b279c37dc5", retryAt: at, ...refusal } },
      }),
      object(TCPEdge, "warehouse-of-the-second-region", {
        spec: { backend: { enabled: true, backendRef: { kind: "TunnelGroupBackend", name: "warehouse" } } },
        failure: {
          reason: "ReferenceNotReady",
          message: 'Create TunnelGroupBackend "warehouse" in this namespace: spec.backend.backendRef refers to it',
        },
      }),
    ],
  ],
  [
    AgentIngress,
    [
      object(AgentIngress, "bad", {
        spec: { domain: "agents.shop.example" },
        intent: true,
        failure: {
          reason: "AlreadyExists",
          stalled: true,
          message: "Set spec.adopt: {id: agin_9} to manage the agent ingress that has agents.shop.example already",
        },
      }),
    ],
  ],
  [
    ReservedDomain,
    [
      object(ReservedDomain, "shop", {
        id: "rd_1",
        spec: { domain: "*.shop.example", certificateRef: { name: "shop" } },
        status: { domain: "*.shop.example" },
      }),
    ],
  ],
  [
    TLSEdge,
    [
      object(TLSEdge, "shop", {
        id: "edgtls_1",
        spec: {
          hostports: ["api.shop.example:443"],
          backend: { enabled: true, backendRef: { kind: "TunnelGroupBackend", id: "bkdtg_1" } },
          ipRestriction: { enabled: false, ipPolicyRefs: [] },
          tlsTermination: { enabled: true, terminateAt: "edge" },
        },
      }),
    ],
  ],
  [
    EventSubscription,
    [object(EventSubscription, "audit", { id: "esb_1", spec: { destinationRefs: [{ id: "ed_1" }] } })],
  ],
  [
    EventSource,
    [
      object(EventSource, "new-policies", {
        id: "esb_1/ip_policy_created.v0",
        spec: { subscriptionRef: { name: "audit" }, type: "ip_policy_created.v0" },
      }),
    ],
  ],
  [SSHCredential, [object(SSHCredential, "builder", { id: "sshcr_1", spec: { publicKey: "ssh-ed25519 AAAA" } })]],
  [
    TLSCertificate,
    [
      object(TLSCertificate, "shop", {
        id: "cert_1",
        spec: { secretName: "shop-tls" },
        status: { notAfter: "2026-01-20T00:00:00Z" },
      }),
    ],
  ],
]);

/** What the service answers, by kind. */
export const remotes: ReadonlyMap<Kind, readonly (Record<string, unknown> & { id: string })[]> = new Map<
  Kind,
  readonly (Record<string, unknown> & { id: string })[]
>([
  [
    IPPolicy,
    [
      {
        id: "ipp_2leg4kyX69U6IswsdjKIohVXiFIz",
        created_at: at,
        metadata: mark("office"),
        description: "Everybody",
      },
      { id: "ipp_left", created_at: at, metadata: mark("gone"), description: "Left behind" },
      { id: "ipp_nobody", created_at: at, description: "Made by hand" },
    ],
  ],
  [ReservedAddress, [{ id: "ra_1", created_at: at, addr: "5.tcp.gateway.example:20413", metadata: mark("db") }]],
  [
    TunnelGroupBackend,
    [{ id: "bkdtg_1", created_at: at, labels: { app: "db" }, tunnels: [{ id: "tn_2" }, { id: "tn_1" }] }],
  ],
  [
    ReservedDomain,
    [
      {
        id: "rd_1",
        created_at: at,
        metadata: mark("shop"),
        domain: "*.shop.example",
        certificate: { id: "cert_1" },
      },
    ],
  ],
  [
    TLSEdge,
    [
      {
        id: "edgtls_1",
        created_at: at,
        metadata: mark("shop"),
        hostports: ["api.shop.example:443"],
        backend: { enabled: true, backend: { id: "bkdtg_1" } },
        ip_restriction: { enabled: false, ip_policies: [] },
        tls_termination: { enabled: true, terminate_at: "edge" },
      },
    ],
  ],
  [EventDestination, [{ id: "ed_1", created_at: at, format: "json" }]],
  [
    EventSubscription,
    [
      {
        id: "esb_1",
        created_at: at,
        metadata: mark("audit"),
        destinations: [{ id: "ed_1" }],
        sources: [{ type: "ip_policy_created.v0" }, { type: "ip_policy_updated.v0" }],
      },
    ],
  ],
  [SSHCredential, [{ id: "sshcr_1", created_at: at, metadata: mark("builder"), public_key: "ssh-ed25519 AAAA" }]],
  [
    TCPEdge,
    [
      {
        id: "edgtcp_QiNPhxuxtcnuGo5a4IBvoKsc6MF",
        created_at: at,
        metadata: mark("db"),
        hostports: ["5.tcp.gateway.example:20413"],
        backend: { enabled: true, backend: { id: "bkdtg_1" } },
        ip_restriction: { enabled: true, ip_policies: [{ id: "ipp_2leg4kyX69U6IswsdjKIohVXiFIz" }] },
      },
    ],
  ],
  [AgentIngress, [{ id: "agin_9", created_at: at, domain: "agents.shop.example" }]],
  [TLSCertificate, [{ id: "cert_1", created_at: at, not_after: "2026-01-20T00:00:00Z", metadata: mark("shop") }]],
]);

/** Sessions of an SSH credential, of more than are shown, and of others. */
export const sessions = [
  ...Array.from({ length: 22 }, (_, index) => ({
    id: `ts_${String(index).padStart(2, "0")}`,
    region: "eu",
    transport: "ssh",
    credential: { id: "sshcr_1" },
  })),
  { id: "ts_22", region: "us", transport: "svc/v2", credential: { id: "cr_1" } },
  { id: "ts_23", transport: "svc/v2", credential: null },
];

export const lease = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: {
    namespace: "gateway",
    name: "tunnel-gateway-operator",
    uid: "lease",
    annotations: {
      "tunnelgateway.dev/accounts": JSON.stringify({
        requestsPerMinute: 100,
        accounts: [{ name: "", requests: 12, listed: "2026-01-10T11:58:00Z" }],
      }),
    },
  },
  spec: { holderIdentity: "operator-0_a1b2", renewTime: "2026-01-10T11:59:55Z", leaseDurationSeconds: 15 },
};

/** Of an edge that the service has refused before, in the order in which a list may have them. */
export const events = [
  {
    metadata: { namespace: "shop", name: "refused" },
    involvedObject: { uid: "uid-TCPEdge-refused" },
    type: "Warning",
    reason: "InvalidSpec",
    eventTime: "2026-01-10T11:20:00.000000Z",
    message: "Correct the spec: the service refused it: The address 5.tcp.gateway.example:20413 is in use",
    series: { count: 4, lastObservedTime: "2026-01-10T11:30:00.000000Z" },
  },
  {
    metadata: { namespace: "shop", name: "updated" },
    involvedObject: { uid: "uid-TCPEdge-db" },
    type: "Normal",
    reason: "RemoteDiffers",
    count: 1,
    lastTimestamp: "2026-01-10T11:45:00Z",
    message: "Corrected spec.description in the account: somebody else had changed it",
  },
  {
    metadata: { namespace: "shop", name: "before" },
    involvedObject: { uid: "uid-TCPEdge-db" },
    type: "Warning",
    reason: "InvalidSpec",
    eventTime: "2026-01-10T10:00:00.000000Z",
    message: "Correct the spec: the service refused it: The description is too long",
  },
];
