import { kinds } from "../../../src/kinds/index.ts";
import type { Kind } from "../../../src/schema/define.ts";
import { minimalSpecs } from "../../support/samples.ts";

type Spec = Record<string, unknown>;

/** A rule of the API page, with specs that keep it and specs that do not; each is added to the least of its kind. */
export interface Rule {
  kind: string;
  rule: string;
  /** What a refusal names, below `spec`. */
  field: string;
  good: readonly Spec[];
  bad: readonly Spec[];
}

/** The smallest spec of each kind, also of those that have no remote. */
export const leastSpecs: Readonly<Record<string, Spec>> = {
  ...minimalSpecs,
  GatewayAccount: { apiKeySecretRef: { name: "keys", key: "api" } },
  AgentCommand: { command: "Restart", sessionRef: { name: "one" } },
};

export interface Limit {
  kind: string;
  field: string;
  most: number;
  counts: "bytes" | "characters";
}

export interface Immutable {
  kind: string;
  field: string;
  value: unknown;
  other: unknown;
}

/** A public key whose bytes follow from a letter. */
const sshKey = (letter: string): string => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${letter.repeat(43)}`;

const hasField = (field: string) => kinds.filter(({ spec }) => field in spec.shape).map(({ kind }) => kind);

const lengths = { description: 255, metadata: 4096 };

/** "event subscriptions: 255 chars", everything else in bytes. */
export const limits: readonly Limit[] = Object.entries(lengths).flatMap(([field, most]) =>
  hasField(field).map(
    (kind): Limit => ({ kind, field, most, counts: kind === "EventSubscription" ? "characters" : "bytes" }),
  ),
);

export const immutables: readonly Immutable[] = [
  { kind: "ReservedAddress", field: "region", value: "eu", other: "us" },
  { kind: "ReservedDomain", field: "domain", value: "one.example.org", other: "two.example.org" },
  { kind: "ReservedDomain", field: "region", value: "eu", other: "us" },
  { kind: "AgentIngress", field: "domain", value: "one.example.org", other: "two.example.org" },
  { kind: "APIKey", field: "ownerId", value: "usr_one", other: "usr_two" },
  { kind: "SSHCredential", field: "ownerId", value: "usr_one", other: "usr_two" },
  { kind: "EventSource", field: "subscriptionRef", value: { name: "one" }, other: { name: "two" } },
  { kind: "EventSource", field: "type", value: "a_b.v0", other: "a_c.v0" },
  { kind: "HTTPSEdgeRoute", field: "edgeId", value: "edghts_one", other: "edghts_two" },
  { kind: "HTTPSEdgeRoute", field: "routeId", value: "edghtsrt_one", other: "edghtsrt_two" },
  { kind: "SSHCredential", field: "publicKey", value: sshKey("A"), other: sshKey("B") },
];

const values = (field: string, list: readonly unknown[]): Spec[] => list.map((value) => ({ [field]: value }));

/** Names of objects of Kubernetes, and texts that are none. */
const objectNames = {
  good: ["a", "a-secret.of-mine", "1"],
  bad: ["", "A-Secret", "a_secret", "-a", "a-", "a/b", "a..b", ".a", "a.", "a-.b", "a.-b", `a${"b".repeat(253)}`],
};

const accountRef = ({ kind }: { kind: string }): Rule => ({
  kind,
  rule: "an account is named as objects are",
  field: "accountRef",
  good: objectNames.good.map((name) => ({ accountRef: { name } })),
  bad: [{ accountRef: {} }, ...objectNames.bad.map((name) => ({ accountRef: { name } }))],
});

/** Rules of the fields that every kind has, and of taking over what exists, where the spec does not name it anyway. */
function everyKind({ kind, naturalKey, location, resource }: Kind): Rule[] {
  const hasKey = naturalKey !== undefined;
  const id = `${resource.idPrefix}1`;
  const adoptions = [{ id }, { id, from: "team-a/web.of-mine" }, ...(hasKey ? [{ existing: true }] : [])];
  const steering = { managementPolicy: "ObserveOnly", deletionPolicy: "Retain", driftPolicy: "Report" };
  const adopts = [
    {
      kind,
      rule: hasKey ? "adopts by id or by name" : "adopts by id",
      field: "adopt",
      good: values("adopt", adoptions),
      bad: values("adopt", [
        {},
        { id: "" },
        { id: "no/id" },
        { id: "any_1" },
        ...["", "a", "/a", "a/", "A/b", "a.b/c", "a/b..c", "a/b/c", `${"a".repeat(64)}/b`].map((from) => ({
          id,
          from,
        })),
        ...(hasKey ? [{ existing: false }, { existing: true, id }] : [{ existing: true }]),
      ]),
    },
  ];
  return [
    ...(location.type === "collection" ? adopts : []),
    accountRef({ kind }),
    ...Object.entries(steering).map(([field, value]) => ({
      kind,
      rule: `${field} is one of its words`,
      field,
      good: values(field, [value]),
      bad: values(field, ["Other", "", 1]),
    })),
  ];
}

const regions = ["au", "eu", "ap", "us", "jp", "in", "sa"];

/** Where exactly one of `name` and `id` is given, and `kind` beside `name` where several kinds fit. */
function references(field: string, wrap: (reference: object) => Spec, id: string, ofKind?: string): Omit<Rule, "kind"> {
  const kind = ofKind ? { kind: ofKind } : {};
  const bad: object[] = [
    {},
    kind,
    { ...kind, name: "one", id },
    { ...kind, name: "" },
    { ...kind, name: "No_Name" },
    { id: "no/id" },
    { id: `${id}/` },
    { id: "any_1" },
    { id: "ak_1" },
    { id: id.replace("1", "") },
    ...(ofKind ? [{ name: "one" }, { kind: "IPPolicy", name: "one" }, { ...kind, id }] : []),
  ];
  return {
    rule: `${field} gives a name or an id`,
    field,
    good: [wrap({ ...kind, name: "one" }), wrap({ id })],
    bad: bad.map(wrap),
  };
}

const oidc = { issuer: "https://login.example.org", clientId: "web", clientSecretRef: { name: "keys", key: "oidc" } };
/** Texts that begin like a URL, and have no host that could be reached. */
const hostless = [
  "https://",
  "https://[",
  "https://[::1",
  "https://?x#y",
  "https:///path",
  "https://:80",
  "https://a b",
  "https://a:0",
  "https://a:65536",
  "https://a:99999",
  "https://a:b",
  "ftp://a",
];
const issuers = [
  "https://a",
  "http://a:65535/b?c=d",
  "https://[::1]:443/",
  "https://user@login.example.org",
  "https://bücher.example/é",
];
const arn = "arn:aws:logs:eu-west-1:1:log-group:one";
const role = { roleArn: "arn:aws:iam::1:role/one" };
const secret = { name: "keys", key: "cloud" };
const creds = { cloudAccessKeyId: "AKIA", cloudSecretAccessKeyRef: secret };
const logs = (auth: object) => ({ target: { logs: { auth, logGroupArn: arn } } });
const monitoring = { apiKeyRef: { name: "keys", key: "monitoring" } };

const of = (kind: string, ...list: Omit<Rule, "kind">[]): Rule[] => list.map((rule) => ({ kind, ...rule }));

const domain: Omit<Rule, "kind"> = {
  rule: "domain is a host name or a wildcard",
  field: "domain",
  good: values("domain", [
    "a.example.com",
    "A.Example.COM",
    "*.example.com",
    "xn--bcher-kva.example",
    "1.2.example.org",
    "_dmarc.a_b.example.org",
  ]),
  bad: values("domain", [
    "",
    "localhost",
    "a b.example.com",
    "-a.example.com",
    "a-.example.com",
    "a..example.com",
    "https://example.com",
    "example.com:443",
    "example.com/",
    "*.*.example.com",
    "a.*.example.com",
    "192.0.2.1",
    `${"a".repeat(64)}.example.com`,
    `${"a.".repeat(125)}example.com`,
  ]),
};

/** An agent ingress is the base name of others. */
const baseDomain: Omit<Rule, "kind"> = {
  ...domain,
  rule: "domain is a host name without a wildcard",
  good: domain.good.filter(({ domain: name }) => !String(name).startsWith("*")),
  bad: [...domain.bad, { domain: "*.example.com" }],
};

const certificatePolicy: Omit<Rule, "kind"> = {
  rule: "certificates come from freeca, with a key of one of two types",
  field: "certificateManagementPolicy",
  good: values("certificateManagementPolicy", [
    {},
    { authority: "freeca" },
    { privateKeyType: "rsa" },
    { authority: "freeca", privateKeyType: "ecdsa" },
  ]),
  bad: values("certificateManagementPolicy", [
    { authority: "other" },
    { privateKeyType: "ed25519" },
    { privateKeyType: "" },
  ]),
};

const idOf = (name: string): string => `${kinds.find(({ kind }) => kind === name)?.resource.idPrefix}1`;

const backends = ["TunnelGroupBackend", "HTTPResponseBackend", "WeightedBackend", "FailoverBackend"];

/** What `ssh-keygen` makes of each type. */
const publicKeys = [
  "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7Yw4Rr0cS0Jw2l1cB0m6o3mC8o8Yxg4hVn8yIhUo4S1fGv7kq1J3dV2Vq0y7m4kq6eJ8r5lD8fJ0Qm9Vw==",
  "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=",
];

const publicKey: Omit<Rule, "kind"> = {
  rule: "a public key is in authorized-keys format",
  field: "publicKey",
  good: values("publicKey", [
    sshKey("A"),
    `${sshKey("A")} someone@host with a name`,
    `${sshKey("A")}\n`,
    ...publicKeys,
    `sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29t${"A".repeat(60)}`,
  ]),
  bad: values("publicKey", [
    "",
    "ssh-ed25519 AAAA",
    sshKey("A").slice(0, -1),
    `${sshKey("A")}A`,
    sshKey("A").replace("ssh-ed25519", "ssh-rsa"),
    sshKey("A").replace("ssh-ed25519", "ssh-unknown"),
    `ssh-rsa ${"A".repeat(200)}`,
    `ssh-rsa ${Buffer.from("this is no key at all, only a text of some length").toString("base64")}`,
    "ssh-ed25519",
    "AAAA",
    "-----BEGIN PUBLIC KEY-----",
    "ssh-ed25519 AA AA\nmore",
    "a b!",
  ]),
};

const labelKeys = {
  good: ["app", "A_b.c-d", "1", "a.example/app", `${"a".repeat(63)}`, `${"a.".repeat(126)}a/${"b".repeat(63)}`],
  bad: ["", "/a", "a/", "-a", "a-", "a b", "a/b/c", "A.example/app", "a..b/c", "a".repeat(64), `${"a.".repeat(127)}/b`],
};

const labelValues = {
  good: ["", "web", "A_b.c-d", "1", "a".repeat(63)],
  bad: ["a b", "-a", "a-", "a/b", "a:b", "é", "a".repeat(64)],
};

/** Labels, wrapped as a field. */
const labelsOf = (wrap: (labels: object) => Spec): Pick<Rule, "good" | "bad"> => ({
  good: [
    ...labelKeys.good.map((key) => wrap({ [key]: "web" })),
    ...labelValues.good.map((value) => wrap({ app: value })),
  ],
  bad: [...labelKeys.bad.map((key) => wrap({ [key]: "web" })), ...labelValues.bad.map((value) => wrap({ app: value }))],
});

const externalDNS = (member: object): Spec => ({ dns: { externalDNS: member } });

const endpoint: Omit<Rule, "kind">[] = [
  {
    rule: "labels of a DNSEndpoint are labels",
    field: "dns.externalDNS.labels",
    ...labelsOf((labels) => externalDNS({ labels })),
  },
  {
    rule: "annotations of a DNSEndpoint have the keys of annotations",
    field: "dns.externalDNS.annotations",
    good: [...labelKeys.good, "A.example/app"].map((key) => externalDNS({ annotations: { [key]: "any / value" } })),
    bad: labelKeys.bad
      .filter((key) => key !== "A.example/app")
      .map((key) => externalDNS({ annotations: { [key]: "any / value" } })),
  },
  {
    rule: "a TTL is a positive number of 31 bits",
    field: "dns.externalDNS.ttl",
    good: [1, 2 ** 31 - 1].map((ttl) => externalDNS({ ttl })),
    bad: [0, -1, 2 ** 31, 0.5].map((ttl) => externalDNS({ ttl })),
  },
];

/** Names of objects of Kubernetes that the spec gives bare. */
const objectName = (field: string): Omit<Rule, "kind"> => ({
  rule: `${field} is a name of a Secret`,
  field,
  good: values(field, objectNames.good),
  bad: values(field, objectNames.bad),
});

const edge: Omit<Rule, "kind">[] = [
  {
    rule: "a hostport is host:port",
    field: "hostports",
    good: values("hostports", [
      [],
      ["1.tcp.eu.gateway.example:20117"],
      ["a:1", "b:65535"],
      ["a:9", "a:10", "a:99", "a:1000", "a:59999", "a:64999", "a:65499", "a:65529"],
      ["*.example.com:443", "example.com:443"],
      // as many and as long as may be, within what the API server lets a rule cost
      Array.from({ length: 64 }, (_, index) => `${index + 10}.${"abc.".repeat(60)}example.:65535`),
      ["bücher.example:1"],
      ["BÜCHER.example:1", "a.example:1"],
      ["xn--bcher-kva.example:1", "xn--mnchen-3ya.example:1"],
      ["*.bücher.example.:1"],
      ["192.0.2.1:443", "_tcp.example.com:443"],
    ]),
    bad: values("hostports", [
      "a:1",
      [""],
      ["host"],
      ["host:"],
      [":80"],
      ["host:port"],
      ["host:123456"],
      ["host:0"],
      ["host:080"],
      ["host:65536"],
      ["host:70000"],
      ["https://host:443"],
      ["host/path:443"],
      ["a host:443"],
      ["a.example.com:1", "b.example.com:1", "a.example.com:1"],
      ["a.example.com:1", "A.Example.com:1"],
      ["a.example.com:1", "a.example.com.:1"],
      ["bücher.example:1", "xn--bcher-kva.example:1"],
      ["bücher.example:1", "XN--BCHER-KVA.example:1"],
      ["BÜCHER.example:1", "bücher.example:1"],
      ["a..b:1"],
      ["a..b?x@:1"],
      ['"quoted":5'],
      [".a:1"],
      ["-a.example.com:1"],
      ["a-.example.com:1"],
      ["a.*.example.com:1"],
      ["*:1"],
      ["a@b:1"],
      ["a\u0000b:1"],
      [`${"a".repeat(64)}.example.com:1`],
      [`${"abc.".repeat(64)}example:1`],
      ["a:1:2"],
      [1],
    ]),
  },
  {
    rule: "an address is named, since the service takes no id in its place",
    field: "addressRefs",
    good: [{ addressRefs: [{ name: "one" }, { name: "two" }] }],
    bad: [{}, { id: "ra_1" }, { name: "" }, { name: "No_Name" }].map((reference) => ({ addressRefs: [reference] })),
  },
  references("backend.backendRef", (backendRef) => ({ backend: { backendRef } }), "bkdtg_1", "TunnelGroupBackend"),
  {
    rule: "a backend module has a backend",
    field: "backend",
    good: [{ backend: { enabled: false, backendRef: { id: "bkdtg_1" } } }],
    bad: [{ backend: {} }, { backend: { enabled: true } }, { backend: { enabled: "yes", backendRef: { id: "x" } } }],
  },
  references("ipRestriction.ipPolicyRefs", (reference) => ({ ipRestriction: { ipPolicyRefs: [reference] } }), "ipp_1"),
  {
    rule: "a rule of a policy has actions with a type",
    field: "policy",
    good: [
      { policy: {} },
      {
        policy: {
          inbound: [{ actions: [{ type: "deny" }] }, { actions: [] }],
          outbound: [{ actions: [{ type: "x", config: { a: [1] } }] }],
        },
      },
    ],
    bad: [
      { policy: { inbound: [{}] } },
      { policy: { outbound: [{ actions: [{}] }] } },
      { policy: { outbound: [{ actions: [{ type: "" }] }] } },
      { policy: { inbound: [{ expressions: "true", actions: [{ type: "deny" }] }] } },
    ],
  },
];

const mutualTls = { certificateAuthorityRefs: [{ id: "ca_1" }] };

/** As many headers as may be, with long names. */
const many = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`X-${"a".repeat(120)}-${index}`, "1"]));

/** As many sources as may be, with long types. */
const manyTypes = Array.from({ length: 256 }, (_, index) => ({ type: `${"a".repeat(93)}_${index}.v0` }));

const certificate = "-----BEGIN CERTIFICATE-----\nMIIB\nAAA=\n-----END CERTIFICATE-----";

export const rules: readonly Rule[] = [
  ...kinds.flatMap(everyKind),
  ...of("GatewayAccount", {
    rule: "a base URL has a host, and nothing after the path",
    field: "baseURL",
    good: values("baseURL", [
      "https://api.gateway.example",
      "https://api.gateway.example:443/v1/@me",
      "https://bücher.example",
      "https://[2001:db8::1]",
      "http://localhost:8080/v1",
      "http://127.0.0.1/",
      "http://[::1]:80",
    ]),
    bad: values("baseURL", [
      "",
      "a",
      ...hostless,
      "http://api.gateway.example",
      "https://user@api.gateway.example",
      "https://api.gateway.example/?x",
      "https://api.gateway.example#y",
    ]),
  }),
  ...of(
    "ReservedAddress",
    { rule: "region", field: "region", good: values("region", regions), bad: values("region", ["", "mars", "EU"]) },
    {
      rule: "an endpoint configuration has the id of one",
      field: "endpointConfigurationId",
      good: values("endpointConfigurationId", ["ec_1", "ec_2aBcD"]),
      bad: values("endpointConfigurationId", ["", "rd_1", "ec_", "ec_a/b"]),
    },
  ),
  ...of(
    "ReservedDomain",
    domain,
    { rule: "region", field: "region", good: values("region", regions), bad: values("region", ["", "mars"]) },
    references("certificateRef", (certificateRef) => ({ certificateRef }), "cert_1"),
    {
      rule: "an uploaded certificate excludes automatic management",
      field: "certificateRef",
      good: [{ certificateRef: { id: "cert_1" } }, { certificateManagementPolicy: {} }],
      bad: [{ certificateRef: { id: "cert_1" }, certificateManagementPolicy: {} }],
    },
    certificatePolicy,
    ...endpoint,
  ),
  ...of("TunnelGroupBackend", {
    rule: "labels are texts",
    field: "labels",
    good: values("labels", [{ app: "web", "any key / at all": "" }]),
    bad: values("labels", [{}, { app: 1 }, { app: null, b: {} }, ["app"], "app=web"]),
  }),
  ...of("TCPEdge", ...edge),
  ...of(
    "TLSEdge",
    ...edge,
    references(
      "mutualTls.certificateAuthorityRefs",
      (reference) => ({
        mutualTls: { certificateAuthorityRefs: [reference] },
      }),
      "ca_1",
    ),
    {
      rule: "TLS ends at the edge or upstream, where it has no minimum version",
      field: "tlsTermination",
      good: [
        { tlsTermination: {} },
        { tlsTermination: { enabled: false, terminateAt: "edge", minVersion: "1.2" } },
        { tlsTermination: { terminateAt: "upstream" } },
        { tlsTermination: { minVersion: "1.3" } },
      ],
      bad: [
        { tlsTermination: { terminateAt: "moon" } },
        { tlsTermination: { terminateAt: "upstream", minVersion: "1.2" } },
        { tlsTermination: { minVersion: "" } },
        { tlsTermination: { minVersion: 1.2 } },
      ],
    },
    { rule: "mutual TLS has authorities", field: "mutualTls", good: [], bad: [{ mutualTls: {} }] },
    {
      rule: "clients show certificates only where TLS ends at the edge",
      field: "mutualTls",
      good: [
        { mutualTls, tlsTermination: { terminateAt: "edge" } },
        { mutualTls, tlsTermination: {} },
        { mutualTls: { ...mutualTls, enabled: false }, tlsTermination: { terminateAt: "upstream" } },
        { mutualTls, tlsTermination: { enabled: false, terminateAt: "upstream" } },
      ],
      bad: [
        { mutualTls, tlsTermination: { terminateAt: "upstream" } },
        { mutualTls: { ...mutualTls, enabled: true }, tlsTermination: { enabled: true, terminateAt: "upstream" } },
      ],
    },
  ),
  ...of(
    "HTTPResponseBackend",
    {
      rule: "a status code of HTTP",
      field: "statusCode",
      good: values("statusCode", [100, 200, 418, 599]),
      bad: values("statusCode", [99, 600, 0, -200, 200.5, "200"]),
    },
    {
      rule: "headers are texts",
      field: "headers",
      good: values("headers", [{}, { "X-A": "" }, { "X-A": "1", "X-B": "1" }, many]),
      bad: values("headers", [{ a: 1 }, ["a: b"], "a: b", { "X-A": "1", "x-a": "1" }]),
    },
    {
      rule: "names and values of headers are as HTTP has them",
      field: "headers",
      good: values("headers", [{ "!#$%&'*+-.^_`|~09azAZ": 'a\tb é; "c"' }]),
      bad: values("headers", [
        ...["", " ", "X A: b", "X-A:", "X-A\r\n", "é", "X(A)", "X/A"].map((name) => ({ [name]: "1" })),
        ...["a\r\nX-B: 1", "a\nb", "a\u0000b", "\u007f", "\u001b[0m"].map((value) => ({ "X-A": value })),
      ]),
    },
  ),
  ...of(
    "WeightedBackend",
    ...backends.map((kind) =>
      references("backends", (backendRef) => ({ backends: [{ backendRef, weight: 1 }] }), idOf(kind), kind),
    ),
    {
      rule: "weights from 0 to 10000, and each backend once",
      field: "backends",
      good: values("backends", [
        [],
        [{ backendRef: { id: "bkdtg_1" }, weight: 0 }],
        [
          { backendRef: { id: "bkdtg_1" }, weight: 10_000 },
          { backendRef: { id: "bkdtg_2" }, weight: 10_000 },
        ],
      ]),
      bad: values("backends", [
        [{ backendRef: { id: "bkdtg_1" }, weight: -1 }],
        [{ backendRef: { id: "bkdtg_1" }, weight: 10_001 }],
        [{ backendRef: { id: "bkdtg_1" }, weight: 0.5 }],
        [{ backendRef: { id: "bkdtg_1" } }],
        [{ weight: 1 }],
        [
          { backendRef: { id: "bkdtg_1" }, weight: 1 },
          { backendRef: { id: "bkdtg_1" }, weight: 2 },
        ],
      ]),
    },
  ),
  ...of(
    "FailoverBackend",
    ...backends.map((kind) =>
      references("backendRefs", (reference) => ({ backendRefs: [reference] }), idOf(kind), kind),
    ),
  ),
  ...of("AgentIngress", baseDomain, certificatePolicy, ...endpoint),
  ...of("APIKey", objectName("tokenSecretName")),
  ...of("SSHCredential", publicKey, {
    rule: "ACL rules are bind:<target> or *",
    field: "acl",
    good: values("acl", [
      [],
      ["*"],
      ["bind:*.example.org", "bind:app=*"],
      ["bind:1.tcp.example.org:20117", "bind:*=web", "bind:bücher.example"],
      ["bind:any key=any value"],
    ]),
    bad: values("acl", [
      ...[[""], ["bind:"], ["example.org"], ["allow:x"], "*", [1]],
      ...[["bind:a b"], ["bind: a"], ["bind:a\n"], ["bind:a\u0000"], ["bind:app=a\nb"], ["**"]],
    ]),
  }),
  ...of(
    "SSHHostCertificate",
    publicKey,
    objectName("certificateSecretName"),
    {
      rule: "an SSH authority has the id of one",
      field: "sshCertificateAuthorityId",
      good: values("sshCertificateAuthorityId", ["sshca_1", "sshca_2aBcD"]),
      bad: values("sshCertificateAuthorityId", ["", "ca_1", "sshca_", "sshca_a/b", undefined]),
    },
    ...["validAfter", "validUntil"].map(
      (field): Omit<Rule, "kind"> => ({
        rule: `${field} is in RFC 3339`,
        field,
        good: values(field, ["2030-01-31T12:00:00Z", "2030-01-31T12:00:00+02:00"]),
        bad: values(field, ["", "2030-01-31", "tomorrow", "2030-13-31T12:00:00Z", "2030-01-31 12:00:00"]),
      }),
    ),
    {
      rule: "principals are hosts",
      field: "principals",
      good: values("principals", [[], ["host.example.org", "*.example.org", "192.0.2.1", "2001:db8::1", "host"]]),
      bad: values("principals", [[""], ["https://host"], ["host/path"], ["a host"], ["a,b"], ["a\u0000"], "host"]),
    },
    {
      rule: "the validity ends after it begins",
      field: "validUntil",
      good: [{ validAfter: "2030-01-31T12:00:00+02:00", validUntil: "2030-01-31T12:00:00Z" }],
      bad: [
        { validAfter: "2030-01-31T12:00:00Z", validUntil: "2030-01-31T12:00:00Z" },
        { validAfter: "2030-01-31T12:00:00Z", validUntil: "2030-01-31T12:00:00+02:00" },
      ],
    },
    {
      rule: "renewBefore is a duration, and only where the end is not fixed",
      field: "renewBefore",
      good: values("renewBefore", ["720h", "90m", "1h30m", "0.5h", "0h10m"]),
      bad: [
        ...values("renewBefore", ["", "30d", "1", "-1h", "1 h", "0s", "0h0m", "0.0h"]),
        { renewBefore: "1h", validUntil: "2030-01-31T12:00:00Z" },
      ],
    },
  ),
  ...of("CertificateAuthority", {
    rule: "certificates are given inline, or by one source",
    field: "",
    good: [
      { caPem: certificate },
      { caPem: `a comment\n${certificate}\n\n${certificate}` },
      { caPem: certificate.replaceAll("\n", "\r\n") },
      { caPem: undefined, caPemFrom: { configMapKeyRef: { name: "a", key: "ca.crt" } } },
      { caPem: undefined, caPemFrom: { secretKeyRef: { name: "a", key: "ca.crt" } } },
    ],
    bad: [
      { caPem: undefined },
      { caPem: "" },
      { caPem: "a certificate" },
      { caPem: "-----BEGIN CERTIFICATE-----" },
      { caPem: "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----" },
      { caPem: certificate.replaceAll("CERTIFICATE", "PUBLIC KEY") },
      { caPem: `${certificate}\n${certificate.replaceAll("CERTIFICATE", "RSA PRIVATE KEY")}` },
      { caPemFrom: { secretKeyRef: { name: "a", key: "ca.crt" } } },
      { caPem: undefined, caPemFrom: {} },
      {
        caPem: undefined,
        caPemFrom: { configMapKeyRef: { name: "a", key: "b" }, secretKeyRef: { name: "a", key: "b" } },
      },
      { caPem: undefined, caPemFrom: { secretKeyRef: { name: "a" } } },
      { caPem: undefined, caPemFrom: { configMapKeyRef: { name: "a", key: "a/b" } } },
    ],
  }),
  ...of("TLSCertificate", objectName("secretName")),
  ...of(
    "EventDestination",
    {
      rule: "the only format is json",
      field: "format",
      good: values("format", ["json"]),
      bad: values("format", ["JSON", "xml", ""]),
    },
    {
      rule: "exactly one target",
      field: "target",
      good: [
        logs({ role }),
        { target: { delivery: { auth: { role }, deliveryStreamArn: arn } } },
        { target: { stream: { auth: { role }, streamArn: arn } } },
        { target: { monitoring } },
      ],
      bad: [
        { target: undefined },
        { target: {} },
        { target: { ...logs({ role }).target, monitoring } },
        {
          target: { stream: { auth: { role }, streamArn: arn }, delivery: { auth: { role }, deliveryStreamArn: arn } },
        },
      ],
    },
    {
      rule: "exactly one way to authenticate",
      field: "target.logs.auth",
      good: [logs({ role }), logs({ creds })],
      bad: [logs({}), logs({ role, creds }), logs({ role: {} }), logs({ creds: { cloudAccessKeyId: "AKIA" } })],
    },
    {
      rule: "a target has its resource name",
      field: "target",
      good: [],
      bad: [
        { target: { logs: { auth: { role } } } },
        { target: { delivery: { auth: { role }, deliveryStreamArn: "" } } },
        { target: { stream: { streamArn: arn } } },
        { target: { monitoring: {} } },
      ],
    },
    {
      rule: "a secret is a name and a key",
      field: "target.monitoring.apiKeyRef",
      good: [
        { target: { monitoring } },
        ...[".a", "a..b", "-", "A_1."].map((key) => ({ target: { monitoring: { apiKeyRef: { name: "keys", key } } } })),
      ],
      bad: [
        { target: { monitoring: { apiKeyRef: { name: "keys" } } } },
        { target: { monitoring: { apiKeyRef: { key: "a" } } } },
        ...["a/b", ".", "..", "..a"].map((key) => ({ target: { monitoring: { apiKeyRef: { name: "keys", key } } } })),
        { target: { monitoring: { apiKeyRef: { name: "Keys_", key: "a" } } } },
        { target: { monitoring: { apiKeyRef: "a key" } } },
      ],
    },
  ),
  ...of(
    "EventSubscription",
    {
      rule: "a source has an event type",
      field: "sources",
      good: values("sources", [
        [],
        [{ type: "ip_policy_created.v0" }],
        [{ type: "a.v0" }, { type: "b_2.v12" }],
        manyTypes,
      ]),
      bad: values("sources", [
        [{}],
        [{ type: "" }],
        [{ type: "ip_policy_created" }],
        [{ type: "ip_policy_created.v" }],
        [{ type: "ip_policy_created.0" }],
        [{ type: "IP_Policy.v0" }],
        [{ type: "ip-policy.v0" }],
        ["ip_policy_created.v0"],
        [{ type: "0.v0" }],
        [{ type: "0_created.v0" }],
        [{ type: "_created.v0" }],
        [{ type: `${"a".repeat(96)}_b.v0` }],
        [{ type: "a_b.v0" }, { type: "a_c.v0" }, { type: "a_b.v0" }],
      ]),
    },
    references("destinationRefs", (reference) => ({ destinationRefs: [reference] }), "ed_1"),
  ),
  ...of(
    "EventSource",
    {
      rule: "an event type is named as those of the service",
      field: "type",
      good: values("type", ["ip_policy_created.v0", "b_2.v12"]),
      bad: values("type", [
        "0.v0",
        "_created.v0",
        "",
        "ip_policy_created",
        "ip_policy_created.v",
        "IP_Policy.v0",
        "ip-policy.v0",
        "a/b.v0",
      ]),
    },
    references("subscriptionRef", (subscriptionRef) => ({ subscriptionRef }), "esb_1"),
  ),
  ...of(
    "HTTPSEdgeRoute",
    {
      rule: "the edge is given by its id",
      field: "edgeId",
      good: values("edgeId", ["edghts_1"]),
      bad: values("edgeId", ["", "edghtsrt_1", "edgtls_1", "edghts_", "edghts_a/b"]),
    },
    {
      rule: "the route is given by its id",
      field: "routeId",
      good: values("routeId", ["edghtsrt_1"]),
      bad: values("routeId", ["", "edghts_1", "edghtsrt_", "edghtsrt_a/b"]),
    },
    {
      rule: "times are seconds in unsigned 32 bits",
      field: "oidc",
      good: [0, 4_294_967_295].map((maximumDuration) => ({ oidc: { ...oidc, maximumDuration } })),
      bad: [-1, 4_294_967_296, 1.5, "60"].map((inactivityTimeout) => ({ oidc: { ...oidc, inactivityTimeout } })),
    },
    {
      rule: "OpenID Connect has an issuer, a client and its secret",
      field: "oidc",
      good: [
        { oidc },
        { oidc: { ...oidc, scopes: ["openid"] } },
        ...issuers.map((issuer) => ({ oidc: { ...oidc, issuer } })),
      ],
      bad: [
        { oidc: { ...oidc, issuer: undefined } },
        { oidc: { ...oidc, issuer: "login.example.org" } },
        ...hostless.map((issuer) => ({ oidc: { ...oidc, issuer } })),
        { oidc: { ...oidc, clientId: "" } },
        { oidc: { ...oidc, clientSecretRef: undefined } },
        { oidc: { ...oidc, scopes: [""] } },
      ],
    },
    {
      rule: "the name of a cookie begins with its prefix",
      field: "oidc.cookiePrefix",
      good: ["", "shop.", "__Host-"].map((cookiePrefix) => ({ oidc: { ...oidc, cookiePrefix } })),
      bad: ["a b", "a;", "a=", "a,", "a\r\n", "é"].map((cookiePrefix) => ({ oidc: { ...oidc, cookiePrefix } })),
    },
    {
      rule: "SAML has the metadata of a provider",
      field: "saml",
      good: [
        { saml: { idpMetadata: "<EntityDescriptor/>", authorizedGroups: ["staff"] } },
        { saml: { idpMetadata: '<EntityDescriptor entityID="a"/>' } },
        // as long as may be, within what the API server lets a rule cost
        { saml: { idpMetadata: `<a:EntityDescriptor>${"é".repeat(262_103)}</a:EntityDescriptor>` } },
        {
          saml: {
            idpMetadata: '<?xml version="1.0"?>\n<md:EntityDescriptor\n entityID="a>b">é</md:EntityDescriptor >\n',
          },
        },
      ],
      bad: [
        { saml: {} },
        { saml: { idpMetadata: "" } },
        { saml: { idpMetadata: "https://idp.example.org/metadata" } },
        { saml: { idpMetadata: "an EntityDescriptor" } },
        { saml: { idpMetadata: "<AnEntityDescriptor/>" } },
        { saml: { idpMetadata: "<EntityDescriptors></EntityDescriptors>" } },
        { saml: { idpMetadata: '<EntityDescriptor entityID="a"><KeyDescriptor/>' } },
        { saml: { idpMetadata: "</EntityDescriptor>" } },
        { saml: { idpMetadata: "<EntityDescriptor/>", authorizedGroups: [] } },
      ],
    },
    {
      rule: "a webhook has a provider, and not always a secret",
      field: "webhookVerification",
      good: [{ webhookVerification: { provider: "sns" } }],
      bad: [
        { webhookVerification: {} },
        { webhookVerification: { provider: "" } },
        { webhookVerification: { provider: "github", secretRef: { name: "keys" } } },
      ],
    },
    references(
      "ipRestriction.ipPolicyRefs",
      (reference) => ({ ipRestriction: { ipPolicyRefs: [reference] } }),
      "ipp_1",
    ),
  ),
  ...of(
    "AgentCommand",
    {
      rule: "a session is given by its name or its id",
      field: "sessionRef",
      good: [{ id: "ts_1" }, ...objectNames.good.map((name) => ({ name }))].map((sessionRef) => ({ sessionRef })),
      bad: [{}, { id: "ts_" }, { name: "one", id: "ts_1" }, ...objectNames.bad.map((name) => ({ name }))].map(
        (sessionRef) => ({ sessionRef }),
      ),
    },
    {
      rule: "sessions are chosen by labels",
      field: "selector",
      ...labelsOf((matchLabels) => ({ sessionRef: undefined, selector: { matchLabels } })),
    },
    {
      rule: "numbers are in their range",
      field: "",
      good: [
        { command: "Update", maxConcurrent: 100 },
        { command: "Stop", ttlSecondsAfterFinished: 0 },
      ],
      bad: [{ maxConcurrent: 0 }, { maxConcurrent: 101 }, { ttlSecondsAfterFinished: -1 }],
    },
  ),
  accountRef({ kind: "AgentCommand" }),
];
