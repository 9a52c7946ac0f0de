import { isDeepStrictEqual } from "node:util";
import { type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import type { Control } from "../../../tools/simulator/control/control.ts";
import type { Members } from "../../../tools/simulator/shape/members.ts";
import { inID, type Point, type StepName, stepTypeOf, typeOf } from "./steps.ts";

type Operation = "create" | "update" | "delete" | "adopt";

/** A row that is in the account before the object is created. */
export interface Given {
  readonly collection: string;
  readonly members: Members;
  /** The part of the row that belongs to others. */
  readonly theirs: (row: Members) => unknown;
}

/** A kind, one for each way in which remotes are found again. */
export interface Subject {
  /** The first part of the names of its objects. */
  readonly sort: string;
  readonly kind: string;
  /** The collection in the account. */
  readonly collection: string;
  readonly given?: (name: string) => readonly Given[];
  /** The remotes of an object. Default: the rows with its name as description. */
  readonly remotes?: (control: Control, name: string) => Members[];
  readonly spec: (name: string) => Members;
  /** The spec after an edit. `isEdited`: whether a remote matches it. */
  readonly edited: (name: string) => Members;
  readonly isEdited: (row: Members) => boolean;
  /** A request that creates an equal remote for somebody else. */
  readonly lookalike: (name: string) => Members;
  /** The steps of each operation, in order. An operation that is missing is impossible for the kind. */
  readonly steps: Readonly<Partial<Record<Operation, readonly StepName[]>>>;
}

const usual = {
  create: ["intent", "POST", "status"],
  update: ["PATCH", "status"],
  delete: ["DELETE", "finalizer"],
} as const satisfies Subject["steps"];

/** Fields are recorded before they are sent. */
const takeOver = ["add finalizer", "checkpoint", "PATCH", "status"] as const;
const adoptByID = ["GET", ...takeOver] as const;

const [unedited, edited] = ['{"edited":false}', '{"edited":true}'];
const hasEditedMetadata = ({ metadata }: Members) => JSON.parse(String(metadata)).edited === true;

const plainText = "a text that is no JSON";
const monitoring = (name: string, service: string) => ({
  description: name,
  metadata: plainText,
  target: { monitoring: { apiKeyRef: { name, key: "apiKey" }, service } },
});

const policy = {
  enabled: true,
  inbound: [{ name: "deny", expressions: [], actions: [{ type: "deny", config: { level: 1 } }] }],
};
const hostports = (name: string) => [`${name}.tcp.eu.gateway.example:20117`];

const routeModules = ["ip_restriction", "saml", "webhook_verification"];
const routeRow = (name: string) => ({ id: `edghtsrt_${inID(name)}`, edge_id: `edghts_${inID(name)}` });
const routeIDs = (name: string) => ({ edgeId: routeRow(name).edge_id, routeId: routeRow(name).id });
const theirModule = { enabled: true, issuer: "https://login.example.org", client_id: "theirs", scopes: [] };
const saml = { idpMetadata: `<EntityDescriptor entityID="https://idp.example.org"/>` };

const policyOf = (name: string): string => `ipp_${inID(name)}`;
const subscriptionOf = (name: string): string => `esb_${inID(name).padEnd(24, "0")}`;
const typesIn = (sources: unknown): string[] => ((sources ?? []) as { type: string }[]).map(({ type }) => type);

const yesterday = new Date(Date.now() - 24 * 60 * 60_000).toISOString();

export const subjects: readonly Subject[] = [
  {
    // Found again by its natural key.
    sort: "domain",
    kind: "ReservedDomain",
    collection: "reserved_domains",
    spec: (name) => ({ description: name, domain: `${name}.example.org`, metadata: unedited }),
    edited: (name) => ({ description: name, domain: `${name}.example.org`, metadata: edited }),
    isEdited: hasEditedMetadata,
    lookalike: (name) => ({ description: name, domain: `${name}.example.com` }),
    steps: { ...usual, adopt: takeOver },
  },
  {
    // Found again by the owner mark in its metadata.
    sort: "policy",
    kind: "IPPolicy",
    collection: "ip_policies",
    spec: (name) => ({ description: name, metadata: unedited }),
    edited: (name) => ({ description: name, metadata: edited }),
    isEdited: hasEditedMetadata,
    lookalike: (name) => ({ description: name, metadata: unedited }),
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
    // Found again by the owner mark, which gives way to its text: that leaves no room for the mark.
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
      create: ["secret", "intent", "POST", "id", "unmark", "PATCH", "status"],
      update: ["secret", ...usual.update],
      delete: usual.delete,
      adopt: ["GET", "secret", ...takeOver],
    },
  },
  {
    // Changed by two requests.
    sort: "edge",
    kind: "TCPEdge",
    collection: "edges/tcp",
    spec: (name) => ({ description: name, policy }),
    edited: (name) => ({ description: name, hostports: hostports(name) }),
    isEdited: ({ policy, hostports: given, description }) =>
      policy === null && isDeepStrictEqual(given, hostports(String(description))),
    lookalike: (name) => ({ description: name, policy }),
    steps: { ...usual, update: ["checkpoint", "PATCH", "DELETE policy", "status"] },
  },
  {
    // Its token is shown once, in the answer to the create.
    sort: "key",
    kind: "APIKey",
    collection: "api_keys",
    spec: (name) => ({ description: name, tokenSecretName: name, metadata: unedited }),
    edited: (name) => ({ description: name, tokenSecretName: name, metadata: edited }),
    isEdited: hasEditedMetadata,
    lookalike: (name) => ({ description: name }),
    steps: {
      ...usual,
      create: ["secret", "try secret", "intent", "POST", "write secret", "status"],
      adopt: adoptByID,
    },
  },
  {
    // Modules of a remote that other clients create.
    sort: "route",
    kind: "HTTPSEdgeRoute",
    collection: "https_routes",
    given: (name) => [
      {
        collection: "https_routes",
        members: { ...routeRow(name), oidc: theirModule },
        theirs: ({ oidc }) => oidc,
      },
      {
        collection: "ip_policies",
        members: { id: policyOf(name), description: "somebody else's" },
        theirs: (row) => row,
      },
    ],
    remotes: (control, name) => {
      const { id, edge_id: edge, oidc: _, ...modules } = control.get(String(routeRow(name).id)) as Members;
      return routeModules.some((member) => modules[member]) ? [{ ...modules, id: `${edge}/${id}` }] : [];
    },
    spec: (name) => ({ ...routeIDs(name), saml, webhookVerification: { provider: "sns" } }),
    edited: (name) => ({
      ...routeIDs(name),
      ipRestriction: { ipPolicyRefs: [{ id: policyOf(name) }] },
      saml: { ...saml, forceAuthn: true },
    }),
    isEdited: ({ saml: module, ...others }) =>
      (module as Members)["force_authn"] === true &&
      others["webhook_verification"] === null &&
      others["ip_restriction"] !== null,
    lookalike: (name) => ({ ...routeRow(`${name}-theirs`), webhook_verification: { provider: "sns" } }),
    steps: {
      create: [
        "GET saml",
        "GET webhook_verification",
        "add finalizer",
        "checkpoint",
        "PUT saml",
        "PUT webhook_verification",
        "status",
      ],
      update: [
        "GET ip_restriction",
        "checkpoint",
        "PUT ip_restriction",
        "PUT saml",
        "DELETE webhook_verification",
        "status",
      ],
      delete: ["DELETE saml", "DELETE webhook_verification", "finalizer"],
    },
  },
  {
    // An entry of a list.
    sort: "source",
    kind: "EventSource",
    collection: "event_subscriptions",
    given: (name) => [
      {
        collection: "event_subscriptions",
        members: { id: subscriptionOf(name), description: name, sources: [{ type: "theirs.v0" }] },
        theirs: ({ sources, ...row }) => ({
          ...row,
          sources: typesIn(sources).filter((type) => type !== typeOf(name)),
        }),
      },
    ],
    remotes: (control, name) =>
      typesIn(control.get(subscriptionOf(name))?.["sources"])
        .filter((type) => type === typeOf(name))
        .map((type) => ({ id: `${subscriptionOf(name)}/${type}` })),
    spec: (name) => ({ subscriptionRef: { id: subscriptionOf(name) }, type: typeOf(name) }),
    edited: (name) => ({ subscriptionRef: { id: subscriptionOf(name) }, type: typeOf(name) }),
    isEdited: () => true,
    lookalike: (name) => ({ description: `${name}-theirs`, sources: [{ type: typeOf(name) }] }),
    steps: { create: ["intent", "POST source", "status"], delete: ["DELETE source", "finalizer"] },
  },
];

/** Subjects whose remote is searched for by its values, name or mark. */
export const sought = subjects.filter(
  ({ steps: { create = [] } }) => create.includes("intent") && !create.includes("write secret"),
);

/** The types of requests that create something. */
const makes: readonly string[] = ["POST", "POST source", "PUT module"];

/** A point of a create, in terms that fit every subject. */
export interface Moment {
  readonly step: "intent" | "making" | "status";
  readonly at: Point["at"];
}

const isStep = (wanted: Moment["step"], step: StepName): boolean =>
  wanted === "making" ? makes.includes(stepTypeOf(step)) : step === wanted;

/** Cases for these points of a create. */
export const creatingCases = (of: readonly Subject[], moments: readonly Moment[]): Case[] =>
  moments.flatMap(({ step, at }) => casesOf("create", at, of).filter(({ point }) => isStep(step, point.step)));

/** The object whose operation is interrupted at a point. */
export interface Case {
  readonly subject: Subject;
  readonly name: string;
  readonly point: Point;
}

/** A case for every step of an operation. */
export function casesOf(operation: Operation, at: Point["at"], of: readonly Subject[] = subjects): Case[] {
  return of.flatMap((subject) =>
    [...new Set(subject.steps[operation])].map((step, index, steps) => {
      const name = `${subject.sort}-${at}-${step}`.toLowerCase().replaceAll(/[ _]/g, "-");
      return { subject, name, point: { of: name, step, at, after: steps[index - 1] } };
    }),
  );
}

/** The manifests of an object, with its Secret if it needs one. */
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
