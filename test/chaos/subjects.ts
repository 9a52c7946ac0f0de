import { isDeepStrictEqual } from "node:util";
import type { Members } from "../simulator/resource/collection.ts";
import { type KubeJSON, manifest } from "../support/world.ts";
import type { Point } from "./stage.ts";
import type { StepName } from "./steps.ts";

type Operation = "create" | "update" | "delete" | "adopt";

/** One kind of each sort: how what was made is found again differs between them. */
export interface Subject {
  /** Begins the names of its objects. */
  readonly sort: string;
  readonly kind: string;
  /** Of the account. */
  readonly collection: string;
  readonly spec: (name: string) => Members;
  /** The spec after an edit, and whether a remote is as it says. */
  readonly edited: (name: string) => Members;
  readonly isEdited: (row: Members) => boolean;
  /** A request that makes a remote like that of the object, as somebody else would make it. */
  readonly lookalike: (name: string) => Members;
  /** What each operation waits for, in order. */
  readonly steps: Readonly<Partial<Record<Operation, readonly StepName[]>>>;
}

const usual = {
  create: ["intent", "POST", "status"],
  update: ["PATCH", "status"],
  delete: ["DELETE", "finalizer"],
} as const satisfies Subject["steps"];

const adoptByID = ["GET", "add finalizer", "PATCH", "status"] as const;

const edited = '{"edited":true}';
const hasEditedMetadata = ({ metadata }: Members) => JSON.parse(String(metadata)).edited === true;

const plainText = "a text that is no JSON";
const monitoring = (name: string, service: string) => ({
  description: name,
  metadata: plainText,
  target: { monitoring: { apiKeyRef: { name, key: "apiKey" }, service } },
});

const policy = {
  enabled: true,
  inbound: [{ name: "deny", expressions: [], actions: [{ type: "deny", config: null }] }],
};
const hostports = ["1.tcp.eu.gateway.example:20117"];

const yesterday = new Date(Date.now() - 24 * 60 * 60_000).toISOString();

export const subjects: readonly Subject[] = [
  {
    // found again by its natural key
    sort: "domain",
    kind: "ReservedDomain",
    collection: "reserved_domains",
    spec: (name) => ({ description: name, domain: `${name}.example.org` }),
    edited: (name) => ({ description: name, domain: `${name}.example.org`, metadata: edited }),
    isEdited: hasEditedMetadata,
    lookalike: (name) => ({ description: name, domain: `${name}.example.com` }),
    steps: { ...usual, adopt: ["add finalizer", "PATCH", "status"] },
  },
  {
    // by the mark in its metadata
    sort: "policy",
    kind: "IPPolicy",
    collection: "ip_policies",
    spec: (name) => ({ description: name }),
    edited: (name) => ({ description: name, metadata: edited }),
    isEdited: hasEditedMetadata,
    lookalike: (name) => ({ description: name }),
    steps: usual,
  },
  {
    sort: "backend",
    kind: "TunnelGroupBackend",
    collection: "backends/tunnel_group",
    spec: (name) => ({ description: name, metadata: '{"team":"edge"}', labels: { app: "one" } }),
    edited: (name) => ({ description: name, metadata: '{"team":"edge"}', labels: { app: "two" } }),
    isEdited: ({ labels }) => isDeepStrictEqual(labels, { app: "two" }),
    lookalike: (name) => ({ description: name, metadata: '{"team":"edge"}', labels: { app: "one" } }),
    steps: { ...usual, adopt: adoptByID },
  },
  {
    // by all that was sent, since its text has no room for a mark
    sort: "destination",
    kind: "EventDestination",
    collection: "event_destinations",
    spec: (name) => monitoring(name, "one"),
    edited: (name) => monitoring(name, "two"),
    isEdited: ({ target }) => (target as { monitoring: Members }).monitoring["service"] === "two",
    lookalike: (name) => ({
      description: name,
      metadata: plainText,
      format: "json",
      target: { monitoring: { api_key: "somebody else's", service: "one" } },
      created_at: yesterday,
    }),
    steps: {
      create: ["secret", ...usual.create],
      update: ["secret", ...usual.update],
      delete: usual.delete,
      adopt: ["GET", "secret", "add finalizer", "PATCH", "status"],
    },
  },
  {
    // changed by two requests
    sort: "edge",
    kind: "TCPEdge",
    collection: "edges/tcp",
    spec: (name) => ({ description: name, policy }),
    edited: (name) => ({ description: name, hostports }),
    isEdited: (row) => row["policy"] === null && isDeepStrictEqual(row["hostports"], hostports),
    lookalike: (name) => ({ description: name, policy }),
    steps: { ...usual, update: ["PATCH", "DELETE policy", "status"] },
  },
];

/** The object whose operation is interrupted at a point. */
export interface Case {
  readonly subject: Subject;
  readonly name: string;
  readonly point: Point;
}

/** A case for every step of an operation. */
export function casesOf(operation: Operation, at: Point["at"], of: readonly Subject[] = subjects): Case[] {
  return of.flatMap((subject) =>
    (subject.steps[operation] ?? []).map((step) => {
      const name = `${subject.sort}-${at}-${step}`.toLowerCase().replace(" ", "-");
      return { subject, name, point: { of: name, step, at } };
    }),
  );
}

/** The manifests of an object; with its Secret, where it needs one. */
export function manifestsOf(
  { subject: { kind, steps }, name }: Pick<Case, "subject" | "name">,
  spec: Members,
): KubeJSON[] {
  const object = manifest(kind, name, spec);
  const reads = steps.create?.includes("secret") && !steps.create.includes("write secret");
  return reads ? [object, secretOf(name)] : [object];
}

const secretOf = (name: string): KubeJSON => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  stringData: { apiKey: `key of ${name}` },
});
