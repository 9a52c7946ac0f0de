import { beforeEach, describe, expect, it } from "vitest";
import { FakeCluster } from "../../../test/fakes/reconcile/fake-cluster.ts";
import { keyPair } from "../../../test/fakes/reconcile/key-pairs.ts";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { CertificateAuthority } from "../../kinds/certificate-authority.ts";
import { EventDestination } from "../../kinds/event-destination.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedAddress } from "../../kinds/reserved-address.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import type { ManagedObject, Status } from "../../objects/object.ts";
import { Blocked, Waiting } from "../../objects/reconcile-error.ts";
import { OWNER_KEY } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import { resolveDesired } from "./desired.ts";

let cluster: FakeCluster;

beforeEach(() => {
  cluster = new FakeCluster([], new VirtualClock());
});

const desired = (kind: Kind, spec: ManagedObject["spec"]) =>
  resolveDesired(kind, cluster.apply(kind, "it", spec), cluster);

async function waitingError(kind: Kind, spec: ManagedObject["spec"]): Promise<string> {
  const error = await desired(kind, spec).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Waiting);
  const { reason, message } = error as Waiting;
  return `${reason}: ${message}`;
}

async function policy(name: string, status: Status, metadata: Partial<ManagedObject["metadata"]> = {}): Promise<void> {
  await cluster.writeStatus(IPPolicy, cluster.apply(IPPolicy, name, {}, metadata), status);
}

async function address(name: string, addr: string): Promise<void> {
  await cluster.writeStatus(ReservedAddress, cluster.apply(ReservedAddress, name, {}), { id: `ra_${name}`, addr });
}

const restricted = (...ipPolicyRefs: object[]) => ({ ipRestriction: { enabled: true, ipPolicyRefs } });
const monitored = (name: string, key = "api") => ({ target: { monitoring: { apiKeyRef: { name, key } } } });

describe("metadata with an owner mark", () => {
  const own = `"${OWNER_KEY}":"c1/team-a/it"`;
  const mark = `"${OWNER_KEY}":"c2/team-b/theirs"`;

  it.each([
    ["another object's mark", `{${mark}}`],
    ["one that fills the limit, so that there is no room for our own", `{${mark},"more":"${"x".repeat(4040)}"}`],
    ["the object's own", `{${own}}`],
    ["a second key, which another reader might take", `{${mark},${own}}`],
    ["a key in other letters", `{"tunnelgateway.dev\\u002fowner":"c2/team-b/theirs"}`],
    ["something that is no mark", `{"${OWNER_KEY}":5}`],
  ])("is refused: %s", async (_, metadata) => {
    const error = await desired(IPPolicy, { metadata }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Blocked);
    expect(error).toMatchObject({ reason: "InvalidSpec", message: expect.stringContaining(OWNER_KEY) });
  });

  it.each([
    ["other keys", '{"owner":"me"}'],
    ["a key further inside", `{"was":{${mark}}}`],
    ["a text", `see ${OWNER_KEY}`],
    ["a list", `[{${mark}}]`],
    ["nothing", ""],
  ])("may have %s", async (_, metadata) => {
    await expect(desired(IPPolicy, { metadata })).resolves.toBeDefined();
  });
});

describe("a reference", () => {
  it("sends the id of an object, or the id in the spec", async () => {
    await policy("office", { id: "ipp_1" });
    const { body } = await desired(TCPEdge, restricted({ name: "office" }, { id: "ipp_2" }));
    expect(body).toEqual({ ip_restriction: { enabled: true, ip_policy_ids: ["ipp_1", "ipp_2"] } });
  });

  it.each<[string, ManagedObject["spec"], string]>([
    [
      "a name and an id",
      restricted({ name: "office" }, { id: "ipp_1" }),
      "spec.ipRestriction.ipPolicyRefs[0] or spec.ipRestriction.ipPolicyRefs[1]: both mean ipp_1",
    ],
    [
      "two names of objects that have the same address",
      { addressRefs: [{ name: "one" }, { name: "two" }] },
      "spec.addressRefs[0] or spec.addressRefs[1]: both mean A.example:1",
    ],
    [
      "an address and a name",
      { hostports: ["a.example.:1"], addressRefs: [{ name: "one" }] },
      "spec.hostports[0] or spec.addressRefs[0]: both mean a.example:1",
    ],
  ])("is refused where the list has its value already: %s", async (_, spec, what) => {
    await policy("office", { id: "ipp_1" });
    await address("one", "a.example:1");
    await address("two", "A.example:1");
    const error = await desired(TCPEdge, spec).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Blocked);
    expect(error).toMatchObject({ reason: "InvalidSpec", message: `Take out ${what}` });
  });

  it("needs only the id of its target", async () => {
    const conditions = [
      { type: "Ready", status: "False" as const, reason: "InvalidSpec", message: "", lastTransitionTime: "" },
    ];
    await policy("office", { id: "ipp_1", conditions });
    await expect(desired(TCPEdge, restricted({ name: "office" }))).resolves.toBeDefined();
  });

  it("waits for an object that is missing, and names the object and the field", async () => {
    expect(await waitingError(TCPEdge, restricted({ id: "ipp_2" }, { name: "office" }))).toBe(
      'ReferenceNotReady: Create IPPolicy "office" in this namespace: spec.ipRestriction.ipPolicyRefs[1] refers to it',
    );
  });

  it.each([
    ["has no id yet", {}],
    ["has an empty one", { id: "" }],
  ])("waits for an object that %s", async (_, status) => {
    await policy("office", status);
    expect(await waitingError(TCPEdge, restricted({ name: "office" }))).toMatch(
      /^ReferenceNotReady: Waiting for IPPolicy "office"/,
    );
  });

  it.each([
    ["Unreadable", "Let the operator list and watch all IPPolicy objects"],
    ["NotDefined", "Install the definition of IPPolicy"],
  ] as const)(
    "waits for a kind that is %s, and does not ask for an object that may be there",
    async (visibility, words) => {
      cluster.visibility.set("IPPolicy", visibility);
      const message = await waitingError(TCPEdge, restricted({ name: "office" }));
      expect(message).toMatch(/^ReferenceNotReady: /);
      expect(message).toContain(words);
      expect(message).not.toMatch(/Create IPPolicy/);
    },
  );

  it("waits for the status field that it sends, if that is not the id", async () => {
    const address = { kind: "ReservedAddress" } as Kind;
    await cluster.writeStatus(address, cluster.apply(address, "db"), { id: "ra_1" });
    expect(await waitingError(TCPEdge, { addressRefs: [{ name: "db" }] })).toMatch(/ReservedAddress "db"/);
  });

  it("needs a name if the service does not take an id there", async () => {
    const [lost, byID] = [{ addressRefs: [{}] }, { addressRefs: [{ id: "ra_1" }] }];
    expect(TCPEdge.spec.safeParse(byID).success).toBe(false);
    await expect(desired(TCPEdge, lost)).rejects.toMatchObject({
      reason: "InvalidSpec",
      message: "Set spec.addressRefs[0].name, the name of a ReservedAddress",
    });
  });

  it("waits when its target is being deleted", async () => {
    await policy("office", { id: "ipp_1" }, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    expect(await waitingError(TCPEdge, restricted({ name: "office" }))).toMatch(
      /^ReferenceNotReady: Point spec.ipRestriction/,
    );
  });
});

describe("a text", () => {
  it.each([
    ["caPem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "a certificate in it cannot be read"],
  ])("that is well-formed and none of those that it should be is not sent: %s", async (field, value, problem) => {
    const error = await desired(CertificateAuthority, { [field]: value }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: "InvalidSpec", message: `Correct spec.${field}: ${problem}` });
  });
});

describe("a Secret", () => {
  it("adds its value to the request, and its version to the status", async () => {
    cluster.setSecret("dd", { api: "hush" });
    const { body, secrets } = await desired(EventDestination, monitored("dd"));
    expect(body).toEqual({ target: { monitoring: { api_key: "hush" } } });
    const { resourceVersion } = cluster.secretNow("dd") ?? {};
    expect(secrets).toEqual([{ name: "dd", resourceVersion, keys: { "target.monitoring.apiKeyRef": "api" } }]);
  });

  it("has only its own keys in the status, where a spec refers to several, in the order of their names", async () => {
    for (const name of ["b", "a"]) cluster.setSecret(name, { of: `hush ${name}` });
    const { secrets } = await desired(HTTPSEdgeRoute, {
      edgeId: "edghts_1",
      routeId: "edghtsrt_1",
      oidc: { issuer: "https://issuer.test", clientId: "c", clientSecretRef: { name: "b", key: "of" } },
      webhookVerification: { provider: "sns", secretRef: { name: "a", key: "of" } },
    });
    expect(secrets).toMatchObject([
      { name: "a", keys: { "webhookVerification.secretRef": "of" } },
      { name: "b", keys: { "oidc.clientSecretRef": "of" } },
    ]);
    expect(secrets.map(({ keys = {} }) => Object.keys(keys))).toEqual([
      ["webhookVerification.secretRef"],
      ["oidc.clientSecretRef"],
    ]);
  });

  it("makes its member of the request confidential, and neither a reference nor a ConfigMap does", async () => {
    cluster.setSecret("dd", { api: "hush" });
    expect((await desired(EventDestination, monitored("dd"))).secretMembers).toEqual(new Set(["target"]));
    expect((await desired(TCPEdge, restricted({ id: "ipp_1" }))).secretMembers).toEqual(new Set());
    cluster.setConfigMap("ca", { pem: keyPair("first")["tls.crt"] });
    const caPemFrom = { configMapKeyRef: { name: "ca", key: "pem" } };
    expect((await desired(CertificateAuthority, { caPemFrom })).secretMembers).toEqual(new Set());
  });

  it("is read once, however many of its keys are used", async () => {
    cluster.setSecret("tls", keyPair("first"));
    const { body } = await desired(TLSCertificate, { secretName: "tls" });
    const { "tls.crt": chain, "tls.key": key } = keyPair("first");
    expect(body).toEqual({ certificate_pem: chain, private_key_pem: key });
    expect(cluster.secretReads).toEqual(["tls"]);
  });

  const [first, second] = [keyPair("first"), keyPair("second")];
  const chain = `${second["tls.crt"]}${first["tls.crt"]}`;

  it.each<[string, Record<string, string>, string]>([
    ["has no certificate", { ...first, "tls.crt": "rubbish" }, 'key "tls.crt" has no certificate in PEM'],
    [
      "has a certificate that is broken",
      { ...first, "tls.crt": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----" },
      'a certificate in key "tls.crt" cannot be read',
    ],
    [
      "has no key",
      { ...first, "tls.key": "rubbish" },
      'key "tls.key" has no private key in PEM, or one that needs a password',
    ],
    [
      "has the key of another",
      { ...first, "tls.key": second["tls.key"] },
      '"tls.key" is the key of no certificate in key "tls.crt"',
    ],
    [
      "has its chain in the wrong order",
      { ...first, "tls.crt": chain },
      'the certificate of "tls.key" has to be the first in key "tls.crt", and is number 2',
    ],
  ])("is waited for when a certificate %s", async (_, data, problem) => {
    cluster.setSecret("tls", data);
    expect(await waitingError(TLSCertificate, { secretName: "tls" })).toBe(
      `SecretNotReady: Correct Secret "tls": ${problem}`,
    );
  });

  it("may have more keys, a chain, and text around its blocks, as cert-manager and others write them", async () => {
    const more = { "ca.crt": "", "tls-combined.pem": "both", "keystore.p12": "binary" };
    cluster.setSecret("tls", {
      ...first,
      ...more,
      "tls.crt": `subject=one\n${first["tls.crt"]}\n${second["tls.crt"]}`,
    });
    expect((await desired(TLSCertificate, { secretName: "tls" })).secrets).toHaveLength(1);
  });

  it.each<[string, Record<string, string> | undefined, RegExp]>([
    ["is missing", undefined, /^SecretNotReady: Create Secret "dd".*spec\.target\.monitoring\.apiKeyRef/],
    [
      "lacks the key",
      { other: "x" },
      /^SecretNotReady: Add key "api" to Secret "dd".*spec\.target\.monitoring\.apiKeyRef/,
    ],
    ["has it empty", { api: "" }, /^SecretNotReady: Give key "api" of Secret "dd" a value/],
  ])("is waited for when it %s", async (_, data, words) => {
    if (data) cluster.setSecret("dd", data);
    expect(await waitingError(EventDestination, monitored("dd"))).toMatch(words);
  });

  it("is not read while a reference is missing", async () => {
    const kind: Kind = { ...TCPEdge, spec: TCPEdge.spec.extend(EventDestination.spec.shape) };
    expect(await waitingError(kind, { ...restricted({ name: "office" }), ...monitored("dd") })).toMatch(
      /^ReferenceNotReady: /,
    );
    expect(cluster.secretReads).toEqual([]);
  });
});

describe("a ConfigMap", () => {
  const spec = { caPemFrom: { configMapKeyRef: { name: "ca", key: "ca.crt" } } };

  it("adds its value to the request", async () => {
    const value = keyPair("third")["tls.crt"];
    cluster.setConfigMap("ca", { "ca.crt": value });
    expect((await desired(CertificateAuthority, spec)).body).toEqual({ ca_pem: value });
  });

  const broken = `${keyPair("third")["tls.crt"]}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`;

  it.each([
    ["rubbish", "it has no certificate in PEM"],
    [broken, "a certificate in it cannot be read"],
  ])("or a Secret is waited for when the certificates of an authority cannot be read", async (value, problem) => {
    cluster.setConfigMap("ca", { "ca.crt": value });
    cluster.setSecret("ca", { pem: value });
    expect(await waitingError(CertificateAuthority, spec)).toBe(
      `ReferenceNotReady: Correct key "ca.crt" of ConfigMap "ca": ${problem}`,
    );
    const secret = { caPemFrom: { secretKeyRef: { name: "ca", key: "pem" } } };
    expect(await waitingError(CertificateAuthority, secret)).toBe(
      `SecretNotReady: Correct key "pem" of Secret "ca": ${problem}`,
    );
  });

  it.each<[string, Record<string, string> | undefined, RegExp]>([
    ["is missing", undefined, /^ReferenceNotReady: Create ConfigMap "ca"/],
    ["lacks the key", {}, /^ReferenceNotReady: Add key "ca.crt" with a value to ConfigMap "ca"/],
  ])("is waited for when it %s", async (_, data, words) => {
    if (data) cluster.setConfigMap("ca", data);
    expect(await waitingError(CertificateAuthority, spec)).toMatch(words);
  });
});
