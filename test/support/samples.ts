import type { KubeJSON } from "../../tools/shared/objects.ts";
import { type SelfSignedOptions, selfSigned } from "../../tools/simulator/certificates/self-signed.ts";
import type { Members } from "../../tools/simulator/shape/members.ts";
import { ed25519PublicKey } from "../../tools/simulator/testing/samples.ts";

/** The status of an object in `needed`, which has the id for a request. */
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

/** An object with values for fields of its kind. All samples of a kind together have values for all fields. */
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

/** The objects that samples refer to. Apply them first, and wait until they are Ready. */
export const needed: readonly KubeJSON[] = [
  secret("keys", { monitoring: "a-monitoring-key", cloud: "a-cloud-secret", ca: authorityPem("From a Secret") }),
  configMap("authorities", { ca: authorityPem("From a ConfigMap") }),
  tlsSecret("tls", { commonName: "tls.example.org", dnsNames: ["tls.example.org"] }),
  ...["one", "two"].flatMap((name) => [
    object("IPPolicy", name, {}),
    object("TunnelGroupBackend", name, { labels: { number: name } }),
    object("ReservedAddress", name, {}),
    object("EventDestination", name, { target: monitoring(name) }),
    object("EventSubscription", name, {}),
    object("CertificateAuthority", name, { caPem: authorityPem(name) }),
  ]),
];

const certificate = (id: string, commonName: string): Members => {
  const { certificatePem, privateKeyPem } = selfSigned({ commonName, dnsNames: [commonName] });
  return { id, certificate_pem: certificatePem, private_key_pem: privateKeyPem };
};

/** Remotes of others in the account. Samples refer to them by their ids. */
export const foreignRows: readonly { collection: string; id: string; row: Members }[] = ["one", "two"].map((name) => ({
  collection: "tls_certificates",
  id: `cert_${name}`,
  row: certificate(`cert_${name}`, "uploaded.example.org"),
}));

const named = (name: string) => [{ name }];

const texts: Record<string, Field> = {
  description: { other: "Second words", request: () => ({ description: "Second words" }), member: "description" },
  metadata: { other: '{"team": "two"}', request: () => ({ metadata: '{"team": "two"}' }), member: "metadata" },
};

const firstTexts = { description: "First words", metadata: '{"team": "one"}' };

const backend: Field = {
  other: { enabled: true, backendRef: { kind: "TunnelGroupBackend", name: "two" } },
  request: (statusOf) => ({ backend: { enabled: true, backend_id: statusOf("TunnelGroupBackend", "two").id } }),
  member: "backend",
};

const ipRestriction: Field = {
  other: { enabled: true, ipPolicyRefs: named("two") },
  request: (statusOf) => ({ ip_restriction: { enabled: true, ip_policy_ids: [statusOf("IPPolicy", "two").id] } }),
  member: "ip_restriction",
};

const rules = [{ name: "second", expressions: ["true"], actions: [{ type: "log", config: { level: 2 } }] }];

const policy: Field = {
  other: { enabled: true, outbound: rules },
  request: () => ({ policy: { enabled: true, outbound: rules } }),
  member: "policy",
};

const hostports: Field = {
  other: ["2.tcp.eu.gateway.example:20118"],
  request: () => ({ hostports: ["2.tcp.eu.gateway.example:20118"] }),
  member: "hostports",
};

const edgeSpec = {
  ...firstTexts,
  hostports: ["1.tcp.eu.gateway.example:20117"],
  backend: { enabled: true, backendRef: { kind: "TunnelGroupBackend", name: "one" } },
  ipRestriction: { enabled: true, ipPolicyRefs: named("one") },
  policy: { enabled: true, inbound: [{ actions: [{ type: "deny" }] }] },
};

const onAddresses = (kind: string): Sample => ({
  kind,
  name: "on-addresses",
  spec: { addressRefs: named("one") },
  fields: {
    addressRefs: {
      other: named("two"),
      request: (statusOf) => ({ hostports: [statusOf("ReservedAddress", "two").addr] }),
      member: "hostports",
    },
  },
});

const certificatePolicy: Field = {
  other: { authority: "freeca", privateKeyType: "ecdsa" },
  request: () => ({ certificate_management_policy: { authority: "freeca", private_key_type: "ecdsa" } }),
  member: "certificate_management_policy",
};

const group = (name: string) => ({ kind: "TunnelGroupBackend", name });

const groupID = (statusOf: StatusOf, name: string): string => statusOf("TunnelGroupBackend", name).id;

const share = (name: string, weight: number) => ({ backendRef: group(name), weight });

const publicKeys = { one: ed25519PublicKey(), two: ed25519PublicKey(), least: ed25519PublicKey() };

const role = (name: string) => ({ role: { roleArn: `arn:aws:iam::123456789012:role/${name}` } });

const destination = (
  name: string,
  target: object,
  { other, request }: { other: object; request: Members },
): Sample => ({
  kind: "EventDestination",
  name,
  spec: { ...firstTexts, format: "json", target },
  fields: { ...texts, target: { other, request: () => ({ target: request }), member: "target" } },
});

export const samples: readonly Sample[] = [
  { kind: "IPPolicy", name: "full", spec: firstTexts, fields: texts },
  {
    kind: "ReservedAddress",
    name: "full",
    spec: { ...firstTexts, region: "eu", endpointConfigurationId: "ec_one" },
    fields: {
      ...texts,
      endpointConfigurationId: {
        other: "ec_two",
        request: () => ({ endpoint_configuration_id: "ec_two" }),
        member: "endpoint_configuration",
      },
    },
  },
  {
    kind: "ReservedDomain",
    name: "managed",
    spec: {
      ...firstTexts,
      domain: "managed.example.org",
      region: "eu",
      certificateManagementPolicy: { authority: "freeca", privateKeyType: "rsa" },
    },
    fields: { ...texts, certificateManagementPolicy: certificatePolicy },
  },
  {
    kind: "ReservedDomain",
    name: "uploaded",
    spec: { domain: "uploaded.example.org", certificateRef: { id: "cert_one" } },
    fields: {
      certificateRef: {
        other: { id: "cert_two" },
        request: () => ({ certificate_id: "cert_two" }),
        member: "certificate",
      },
    },
  },
  {
    kind: "TunnelGroupBackend",
    name: "full",
    spec: { ...firstTexts, labels: { app: "one" } },
    fields: {
      ...texts,
      labels: { other: { app: "two" }, request: () => ({ labels: { app: "two" } }), member: "labels" },
    },
  },
  {
    kind: "HTTPResponseBackend",
    name: "full",
    spec: { ...firstTexts, body: "One", headers: { "X-Number": "one" }, statusCode: 201 },
    fields: {
      ...texts,
      body: { other: "Two", request: () => ({ body: "Two" }), member: "body" },
      headers: {
        other: { "X-Number": "two" },
        request: () => ({ headers: { "X-Number": "two" } }),
        member: "headers",
      },
      statusCode: { other: 202, request: () => ({ status_code: 202 }), member: "status_code" },
    },
  },
  {
    kind: "WeightedBackend",
    name: "full",
    spec: { ...firstTexts, backends: [share("one", 1), share("two", 2)] },
    fields: {
      ...texts,
      backends: {
        other: [share("two", 10_000), share("one", 0)],
        request: (statusOf) => ({ backends: { [groupID(statusOf, "two")]: 10_000, [groupID(statusOf, "one")]: 0 } }),
        member: "backends",
      },
    },
  },
  {
    kind: "FailoverBackend",
    name: "full",
    spec: { ...firstTexts, backendRefs: [group("one"), group("two")] },
    fields: {
      ...texts,
      backendRefs: {
        other: [group("two"), group("one")],
        request: (statusOf) => ({ backends: [groupID(statusOf, "two"), groupID(statusOf, "one")] }),
        member: "backends",
      },
    },
  },
  {
    kind: "TCPEdge",
    name: "full",
    spec: edgeSpec,
    fields: { ...texts, hostports, backend, ipRestriction, policy },
  },
  onAddresses("TCPEdge"),
  {
    kind: "TLSEdge",
    name: "full",
    spec: {
      ...edgeSpec,
      mutualTls: { enabled: true, certificateAuthorityRefs: named("one") },
      tlsTermination: { enabled: true, terminateAt: "edge", minVersion: "1.2" },
    },
    fields: {
      ...{ ...texts, hostports, backend, ipRestriction, policy },
      mutualTls: {
        other: { enabled: true, certificateAuthorityRefs: named("two") },
        request: (statusOf) => ({
          mutual_tls: { enabled: true, certificate_authority_ids: [statusOf("CertificateAuthority", "two").id] },
        }),
        member: "mutual_tls",
      },
      tlsTermination: {
        other: { enabled: true, terminateAt: "edge", minVersion: "1.3" },
        request: () => ({ tls_termination: { enabled: true, terminate_at: "edge", min_version: "1.3" } }),
        member: "tls_termination",
      },
    },
  },
  onAddresses("TLSEdge"),
  {
    kind: "SSHCredential",
    name: "full",
    spec: { ...firstTexts, publicKey: publicKeys.one, acl: ["bind:*.example.org"], ownerId: "usr_one" },
    fields: {
      ...texts,
      acl: { other: ["bind:app=*", "*"], request: () => ({ acl: ["bind:app=*", "*"] }), member: "acl" },
    },
  },
  {
    kind: "SSHHostCertificate",
    name: "full",
    spec: {
      ...firstTexts,
      sshCertificateAuthorityId: "sshca_one",
      publicKey: publicKeys.two,
      principals: ["host.example.org", "192.0.2.1"],
      validAfter: "2020-01-01T00:00:00Z",
      renewBefore: "24h",
      certificateSecretName: "host-certificate",
    },
    fields: texts,
  },
  {
    kind: "SSHHostCertificate",
    name: "with-an-end",
    spec: {
      sshCertificateAuthorityId: "sshca_one",
      publicKey: publicKeys.two,
      validUntil: "2199-12-31T23:59:59+01:00",
    },
    fields: {},
  },
  { kind: "CertificateAuthority", name: "full", spec: { ...firstTexts, caPem: authorityPem("Inline") }, fields: texts },
  ...(["configMapKeyRef", "secretKeyRef"] as const).map(
    (source): Sample => ({
      kind: "CertificateAuthority",
      name: `from-${source.toLowerCase()}`,
      spec: { caPemFrom: { [source]: { name: source === "secretKeyRef" ? "keys" : "authorities", key: "ca" } } },
      fields: {},
    }),
  ),
  { kind: "TLSCertificate", name: "full", spec: { ...firstTexts, secretName: "tls" }, fields: texts },
  {
    kind: "APIKey",
    name: "full",
    spec: { ...firstTexts, ownerId: "bot_one", tokenSecretName: "a-key" },
    fields: texts,
  },
  {
    kind: "AgentIngress",
    name: "full",
    spec: {
      ...firstTexts,
      domain: "agents.example.org",
      certificateManagementPolicy: { authority: "freeca", privateKeyType: "rsa" },
    },
    fields: { ...texts, certificateManagementPolicy: certificatePolicy },
  },
  destination(
    "by-role",
    { delivery: { auth: role("one"), deliveryStreamArn: "arn:aws:firehose:eu-west-1:1:deliverystream/one" } },
    {
      other: { stream: { auth: role("two"), streamArn: "arn:aws:kinesis:eu-west-1:1:stream/two" } },
      request: {
        stream: {
          auth: { role: { role_arn: "arn:aws:iam::123456789012:role/two" } },
          stream_arn: "arn:aws:kinesis:eu-west-1:1:stream/two",
        },
      },
    },
  ),
  destination(
    "by-keys",
    {
      logs: {
        auth: {
          creds: { cloudAccessKeyId: "AKIAONE", cloudSecretAccessKeyRef: { name: "keys", key: "cloud" } },
        },
        logGroupArn: "arn:aws:logs:eu-west-1:1:log-group:one",
      },
    },
    {
      other: monitoring("two"),
      request: { monitoring: { api_key: "a-monitoring-key", service: "two" } },
    },
  ),
  {
    kind: "EventSubscription",
    name: "full",
    spec: {
      ...firstTexts,
      sources: [{ type: "ip_policy_created.v0" }, { type: "ip_policy_updated.v0" }],
      destinationRefs: named("one"),
    },
    fields: {
      ...texts,
      // only sources that somebody else removes are drift; those that somebody adds stay
      sources: {
        other: [{ type: "ip_policy_created.v0" }],
        request: () => ({ sources: [{ type: "ip_policy_created.v0" }] }),
        member: "sources",
      },
      destinationRefs: {
        other: named("two"),
        request: (statusOf) => ({ destination_ids: [statusOf("EventDestination", "two").id] }),
        member: "destinations",
      },
    },
  },
  {
    kind: "EventSource",
    name: "full",
    spec: { subscriptionRef: { name: "two" }, type: "ip_policy_updated.v0" },
    fields: {},
  },
];

/** A spec with only the required fields, by kind. */
export const least: Readonly<Record<string, Record<string, unknown>>> = {
  IPPolicy: {},
  ReservedAddress: {},
  ReservedDomain: { domain: "least.example.org" },
  TunnelGroupBackend: {},
  HTTPResponseBackend: {},
  WeightedBackend: { backends: [share("one", 1)] },
  FailoverBackend: { backendRefs: [group("one")] },
  TCPEdge: {},
  TLSEdge: {},
  SSHCredential: { publicKey: publicKeys.least },
  SSHHostCertificate: { sshCertificateAuthorityId: "sshca_least", publicKey: publicKeys.least },
  CertificateAuthority: { caPem: authorityPem("Least") },
  TLSCertificate: { secretName: "tls" },
  APIKey: { tokenSecretName: "least-key" },
  AgentIngress: { domain: "least-agents.example.org" },
  EventDestination: {
    target: { logs: { auth: role("least"), logGroupArn: "arn:aws:logs:eu-west-1:1:log-group:least" } },
  },
  EventSubscription: {},
  EventSource: { subscriptionRef: { name: "one" }, type: "ip_policy_created.v0" },
  HTTPSEdgeRoute: { edgeId: "edghts_least", routeId: "edghtsrt_least" },
};

export const manifestOf = ({ kind, name, spec }: Pick<Sample, "kind" | "name" | "spec">): KubeJSON =>
  object(kind, name, spec);
