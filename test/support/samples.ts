import * as z from "zod";
import { kinds } from "../../src/kinds/index.ts";
import type { Kind } from "../../src/schema/define.ts";
import { traitsOf, unwrap } from "../../src/schema/traits.ts";
import { snakeCase } from "../../src/schema/wire/names.ts";
import { needsOf } from "../../src/schema/wire/needs.ts";
import { examples } from "../../tools/shared/examples.ts";
import { type KubeJSON, nameOf } from "../../tools/shared/objects.ts";
import { type SelfSignedOptions, selfSigned } from "../../tools/simulator/certificates/self-signed.ts";
import type { Members } from "../../tools/simulator/shape/members.ts";
import { ed25519PublicKey } from "../../tools/simulator/testing/samples.ts";
import { otherValues } from "../fakes/schema/arbitrary.ts";
import { isOurs } from "./kube.ts";

/** The status of an object in `requiredObjects`, which has the id for a request. */
export type StatusOf = (kind: string, name: string) => KubeJSON;

/** A spec field that can be changed. */
export interface Field {
  /** A second value for the spec. */
  other: unknown;
  /** The body of a request with which somebody else sets that second value. */
  request: (statusOf: StatusOf) => Members;
  /** The member of an answer that shows the field. */
  member: string;
}

/** An object with values for fields of its kind. */
export interface Sample {
  kind: string;
  name: string;
  spec: Record<string, unknown>;
  /** The fields of the spec that the service accepts in updates. */
  fields: Record<string, Field>;
}

const object = (kind: string, name: string, spec: object): KubeJSON => ({ kind, metadata: { name }, spec });

export const secret = (name: string, data: Record<string, string>): KubeJSON => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  stringData: data,
});

export const configMap = (name: string, data: Record<string, string>): KubeJSON => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});

/** A Secret as cert-manager writes it. */
export function tlsSecret(name: string, options: SelfSignedOptions): KubeJSON {
  const { certificatePem, privateKeyPem } = selfSigned(options);
  return { ...secret(name, { "tls.crt": certificatePem, "tls.key": privateKeyPem }), type: "kubernetes.io/tls" };
}

/** The certificate of an authority, as PEM. */
export const authorityPem = (commonName: string): string => selfSigned({ commonName, authority: true }).certificatePem;

const monitoring = (service: string) => ({ monitoring: { apiKeyRef: { name: "keys", key: "monitoring" }, service } });
const role = (name: string) => ({ role: { roleArn: `arn:aws:iam::123456789012:role/${name}` } });
const named = (name: string) => [{ name }];
const group = (name: string) => ({ kind: "TunnelGroupBackend", name });

const documents = await examples();

const kindOf = (name: string): Kind => kinds.find(({ kind }) => kind === name) as Kind;

/** The first example of a kind is minimal, the others have more fields. */
const examplesOf = ({ kind }: Kind): KubeJSON[] => documents.filter((one) => one.kind === kind);

/** The fields without which a spec of this kind is refused, as its first example has them. */
function leastOf(kind: Kind): Record<string, unknown> {
  const { spec, rules, location, naturalKey, output } = kind;
  const isNeeded = (field: string) =>
    !(spec.shape[field] as z.ZodType).safeParse(undefined).success ||
    rules.some(({ rule, reason }) => reason === "FieldValueRequired" && rule.includes(`has(self.${field})`));
  // A remote or a Secret has these values for itself, so they differ from those of the example.
  const unique = [naturalKey, output?.field, ...(location.type === "collection" ? [] : location.idFields)];
  const given = Object.entries<unknown>(examplesOf(kind)[0].spec);
  const minimalSpecs = given.filter(([field]) => field in spec.shape && isNeeded(field));
  return Object.fromEntries(
    minimalSpecs.map(([field, value]) => [
      field,
      unique.includes(field) && typeof value === "string" ? `${value}7` : value,
    ]),
  );
}

/** The smallest valid spec of each kind. */
export const minimalSpecs: Readonly<Record<string, Record<string, unknown>>> = Object.fromEntries(
  kinds.map((kind) => [kind.kind, leastOf(kind)]),
);

/** The examples that these specs refer to, and those that they refer to in turn. */
function referredTo(specs: readonly (readonly [kind: string, spec: unknown])[]): KubeJSON[] {
  const names = specs.flatMap(([kind, spec]) =>
    needsOf(kindOf(kind).spec, spec).flatMap((need) =>
      need.type === "reference" ? `${need.to.kind ?? need.trait.kinds[0]}/${need.to.name}` : [],
    ),
  );
  const found = documents.filter((one) => names.includes(nameOf(one)));
  return found.length === 0 ? [] : [...found, ...referredTo(found.map(({ kind, spec }) => [kind, spec]))];
}

/** The objects to which `minimalSpecs` and second values of fields refer. Apply them first, and wait until they are Ready. */
export const requiredObjects: readonly KubeJSON[] = [
  ...documents.filter((one) => !isOurs(one)),
  ...new Set(referredTo(Object.entries(minimalSpecs))),
  secret("keys", { monitoring: "a-monitoring-key" }),
  ...["one", "two"].flatMap((name) => [
    object("IPPolicy", name, {}),
    object("TunnelGroupBackend", name, { labels: { number: name } }),
    object("ReservedAddress", name, {}),
    object("EventDestination", name, { target: monitoring(name) }),
    object("CertificateAuthority", name, { caPem: authorityPem(name) }),
  ]),
];

const uploaded = selfSigned({ commonName: "uploaded.example.org", dnsNames: ["uploaded.example.org"] });

/** Remotes without an object. Samples refer to them by id. */
export const foreignRows: readonly { collection: string; id: string; row: Members }[] = [
  {
    collection: "tls_certificates",
    id: "cert_two",
    row: { id: "cert_two", certificate_pem: uploaded.certificatePem, private_key_pem: uploaded.privateKeyPem },
  },
];

/** A field that requests and answers have as one member, with the value of the spec. */
const plain = (member: string, other: unknown): Field => ({ other, request: () => ({ [member]: other }), member });

const rules = [{ name: "second", expressions: ["true"], actions: [{ type: "log", config: { level: 2 } }] }];

/** Second values of fields that several kinds have. */
const common: Readonly<Record<string, Field>> = {
  description: plain("description", "Second words"),
  metadata: plain("metadata", '{"team": "two"}'),
  hostports: plain("hostports", ["2.tcp.eu.gateway.example:20118"]),
  policy: plain("policy", { enabled: true, outbound: rules }),
  addressRefs: {
    other: named("two"),
    request: (statusOf) => ({ hostports: [statusOf("ReservedAddress", "two").addr] }),
    member: "hostports",
  },
  backend: {
    other: { enabled: true, backendRef: group("two") },
    request: (statusOf) => ({ backend: { enabled: true, backend_id: statusOf("TunnelGroupBackend", "two").id } }),
    member: "backend",
  },
  ipRestriction: {
    other: { enabled: true, ipPolicyRefs: named("two") },
    request: (statusOf) => ({ ip_restriction: { enabled: true, ip_policy_ids: [statusOf("IPPolicy", "two").id] } }),
    member: "ip_restriction",
  },
  certificateManagementPolicy: {
    other: { authority: "freeca", privateKeyType: "rsa" },
    request: () => ({ certificate_management_policy: { authority: "freeca", private_key_type: "rsa" } }),
    member: "certificate_management_policy",
  },
};

/** Second values of fields of one kind. Those of plain fields follow from the schema. */
const own: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  ReservedAddress: {
    endpointConfigurationId: {
      other: "ec_two",
      request: () => ({ endpoint_configuration_id: "ec_two" }),
      member: "endpoint_configuration",
    },
  },
  ReservedDomain: {
    certificateRef: {
      other: { id: "cert_two" },
      request: () => ({ certificate_id: "cert_two" }),
      member: "certificate",
    },
  },
  WeightedBackend: {
    backends: {
      other: [
        { backendRef: group("two"), weight: 10_000 },
        { backendRef: group("one"), weight: 0 },
      ],
      request: (statusOf) => {
        const [one, two] = ["one", "two"].map((name) => statusOf("TunnelGroupBackend", name).id);
        return { backends: { [two]: 10_000, [one]: 0 } };
      },
      member: "backends",
    },
  },
  FailoverBackend: {
    backendRefs: {
      other: [group("two"), group("one")],
      request: (statusOf) => ({ backends: ["two", "one"].map((name) => statusOf("TunnelGroupBackend", name).id) }),
      member: "backends",
    },
  },
  TLSEdge: {
    mutualTls: {
      other: { enabled: true, certificateAuthorityRefs: named("two") },
      request: (statusOf) => ({
        mutual_tls: { enabled: true, certificate_authority_ids: [statusOf("CertificateAuthority", "two").id] },
      }),
      member: "mutual_tls",
    },
    tlsTermination: {
      other: { enabled: true, terminateAt: "edge", minVersion: "1.2" },
      request: () => ({ tls_termination: { enabled: true, terminate_at: "edge", min_version: "1.2" } }),
      member: "tls_termination",
    },
  },
  SSHCredential: { acl: plain("acl", ["bind:app=*", "*"]) },
  EventDestination: {
    target: {
      other: monitoring("two"),
      request: () => ({ target: { monitoring: { api_key: "a-monitoring-key", service: "two" } } }),
      member: "target",
    },
  },
  EventSubscription: {
    // Entries that somebody else adds stay, so only an entry that is removed is put right.
    sources: plain("sources", [{ type: "ip_policy_created.v0" }]),
    destinationRefs: {
      other: named("two"),
      request: (statusOf) => ({ destination_ids: [statusOf("EventDestination", "two").id] }),
      member: "destinations",
    },
  },
};

/** Whether the service takes a field in updates, and the field can have another value. */
export function isChangeable(schema: z.ZodType): boolean {
  const { immutable, createOnly, notInBody, secretName } = traitsOf(schema);
  const inner = unwrap(schema);
  return (
    !(immutable || createOnly || notInBody || secretName) && !(inner instanceof z.ZodEnum && inner.options.length === 1)
  );
}

function sampleOf(kind: Kind, name: string, spec: Record<string, unknown>): Sample {
  const shape = Object.entries(kind.spec.shape as Record<string, z.ZodType>);
  const fields = shape
    .filter(([field, schema]) => field in spec && isChangeable(schema))
    .map(([field, schema]): [string, Field] => {
      const second = own[kind.kind]?.[field] ?? common[field];
      return [field, second ?? plain(snakeCase(field), otherValues(schema, spec[field])[0])];
    });
  return { kind: kind.kind, name, spec, fields: Object.fromEntries(fields) };
}

const authority = { sshCertificateAuthorityId: "sshca_one", publicKey: ed25519PublicKey() };
const stream = { auth: role("one"), streamArn: "arn:aws:kinesis:eu-west-1:1:stream/one" };

/** Objects with fields that no example has. */
const others = [
  object("ReservedAddress", "configured", { region: "eu", endpointConfigurationId: "ec_one" }),
  // what a resolver says of example domains is not for these tests
  object("ReservedDomain", "regional", { domain: "regional.example.org", region: "eu", dns: { check: false } }),
  object("AgentIngress", "unchecked", { domain: "agents.example.org", dns: { check: false } }),
  object("TCPEdge", "on-hostports", { hostports: ["1.tcp.eu.gateway.example:20117"] }),
  object("TLSEdge", "on-addresses", { addressRefs: named("one") }),
  object("SSHHostCertificate", "begun", { ...authority, validAfter: "2020-01-01T00:00:00Z", renewBefore: "24h" }),
  object("SSHHostCertificate", "ended", { ...authority, validUntil: "2199-12-31T23:59:59+01:00" }),
  object("EventDestination", "by-role", { target: { stream } }),
];

/** All examples but the minimal ones, and objects with the fields that they leave out. */
export const samples: readonly Sample[] = kinds
  .filter(({ location }) => location.type !== "modules")
  .flatMap((kind) => [...examplesOf(kind).slice(1), ...others.filter((one) => one.kind === kind.kind)])
  .map(({ kind, metadata, spec }) => sampleOf(kindOf(kind), metadata.name, spec));

/** The samples and all examples, since samples refer to them. */
export const sampleObjects: readonly KubeJSON[] = [...documents, ...others];

export const manifestOf = ({ kind, name, spec }: Pick<Sample, "kind" | "name" | "spec">): KubeJSON =>
  object(kind, name, spec);
