import type { KubeJSON } from "../../../tools/shared/objects.ts";
import type { Members } from "../../../tools/simulator/shape/members.ts";

type Parts = Record<string, unknown>;

/** A template for objects of one kind: the spec for each revision, and the remote that follows from it. */
export interface ObjectTemplate {
  /** The first part of their names. */
  readonly sort: string;
  readonly kind: string;
  readonly collection: string;
  readonly spec: (label: string, revision: number) => Parts;
  /** The expected remote, in the parts that `shown` takes from a row. */
  readonly remote: (label: string, revision: number) => Parts;
  readonly shown: (row: KubeJSON) => Parts;
  /** A request that creates an equal remote for somebody else. */
  readonly lookalike: (label: string) => Members;
}

/** The Secret with the key that event destinations use, under `apiKey`. */
export const SECRET = "shared";

const metadata = (revision: number) => JSON.stringify({ revision });
const revisionIn = ({ metadata }: KubeJSON) => JSON.parse(metadata).revision;
const hostports = (label: string, revision: number) => [`${label}-${revision}.tcp.eu.gateway.example:20117`];
const rules = (revision: number) => [
  { name: `r${revision}`, expressions: [], actions: [{ type: "deny", config: { level: 1 } }] },
];
const policy = (revision: number) => ({ enabled: true, inbound: rules(revision) });
const hasPolicy = (revision: number) => revision % 2 === 0;

export const templates: readonly ObjectTemplate[] = [
  {
    sort: "policy",
    kind: "IPPolicy",
    collection: "ip_policies",
    spec: (label, revision) => ({ description: label, metadata: metadata(revision) }),
    remote: (description, revision) => ({ description, revision }),
    shown: (row) => ({ description: row.description, revision: revisionIn(row) }),
    lookalike: (label) => ({ description: label, metadata: metadata(0) }),
  },
  {
    sort: "domain",
    kind: "ReservedDomain",
    collection: "reserved_domains",
    spec: (label, revision) => ({ description: label, domain: `${label}.example.org`, metadata: metadata(revision) }),
    remote: (description, revision) => ({ description, domain: `${description}.example.org`, revision }),
    shown: (row) => ({ description: row.description, domain: row.domain, revision: revisionIn(row) }),
    lookalike: (label) => ({ description: label, domain: `${label}.example.com` }),
  },
  {
    sort: "backend",
    kind: "TunnelGroupBackend",
    collection: "backends/tunnel_group",
    spec: (label, revision) => ({ description: label, labels: { revision: `${revision}` } }),
    remote: (description, revision) => ({ description, labels: { revision: `${revision}` } }),
    shown: ({ description, labels }) => ({ description, labels }),
    lookalike: (label) => ({ description: label, labels: { revision: "0" } }),
  },
  {
    // Its metadata has no room for a mark.
    sort: "destination",
    kind: "EventDestination",
    collection: "event_destinations",
    spec: (label, revision) => ({
      description: label,
      metadata: "text",
      target: { monitoring: { apiKeyRef: { name: SECRET, key: "apiKey" }, service: `s${revision}` } },
    }),
    remote: (description, revision) => ({ description, metadata: "text", service: `s${revision}` }),
    shown: ({ description, metadata, target }) => ({ description, metadata, service: target.monitoring.service }),
    lookalike: (label) => ({
      description: label,
      metadata: "text",
      format: "json",
      target: { monitoring: { api_key: "somebody else's", service: "s0" } },
      created_at: new Date(Date.now() - 24 * 60 * 60_000).toISOString(),
    }),
  },
  {
    // A module is added and removed, by its own operation.
    sort: "edge",
    kind: "TCPEdge",
    collection: "edges/tcp",
    spec: (label, revision) => ({
      description: label,
      hostports: hostports(label, revision),
      ...(hasPolicy(revision) && { policy: policy(revision) }),
    }),
    remote: (description, revision) => ({
      description,
      hostports: hostports(description, revision),
      rule: hasPolicy(revision) ? `r${revision}` : null,
    }),
    shown: ({ description, hostports, policy }) => ({ description, hostports, rule: policy?.inbound[0].name ?? null }),
    lookalike: (label) => ({ description: label, hostports: hostports(label, 0), policy: policy(0) }),
  },
];
