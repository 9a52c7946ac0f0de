import { expect, test } from "vitest";
import { parse } from "yaml";
import { APIKey } from "../../kinds/api-key.ts";
import { EventDestination } from "../../kinds/event-destination.ts";
import { HTTPResponseBackend } from "../../kinds/http-response-backend.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedAddress } from "../../kinds/reserved-address.ts";
import { SSHHostCertificate } from "../../kinds/ssh-host-certificate.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import { type Imported, lookupOf, manifestOf, manifestsOf, secretsYAML } from "./manifest.ts";

const policy: Imported = { kind: IPPolicy, name: "office", remote: { id: "ipp_1" } };
const address: Imported = { kind: ReservedAddress, name: "ssh", remote: { id: "ra_1", addr: "a.example:7" } };
const edge: Imported = {
  kind: TCPEdge,
  name: "ssh",
  remote: {
    id: "edgtcp_1",
    description: "",
    metadata: '{"team": "a","tunnelgateway.dev/owner":"c/n/x"}',
    hostports: ["A.example:7", "b.example:8"],
    backend: { enabled: true, backend: { id: "bkdtg_1" } },
    ip_restriction: { enabled: false, ip_policies: [{ id: "ipp_1" }] },
  },
};

const write = (one: Imported, others: readonly Imported[] = [], mark = true) => {
  const manifest = manifestOf(one, lookupOf([one, ...others]), { mark });
  return { ...manifest, object: parse(manifest.yaml) };
};

test("references to imported objects are by name, others by id, and the owner mark is left out", () => {
  expect(write(edge, [policy, address]).object).toEqual({
    apiVersion: "tunnelgateway.dev/v1",
    kind: "TCPEdge",
    metadata: { name: "ssh" },
    spec: {
      adopt: { id: "edgtcp_1" },
      deletionPolicy: "Retain",
      metadata: '{"team": "a"}',
      hostports: ["b.example:8"],
      addressRefs: [{ name: "ssh" }],
      backend: { backendRef: { id: "bkdtg_1" } },
      ipRestriction: { enabled: false, ipPolicyRefs: [{ name: "office" }] },
    },
  });
});

test("texts stay texts for kubectl, which reads YAML 1.1", () => {
  const remote = { id: "ipp_1", description: "yes", metadata: "0b11" };
  const { yaml } = write({ kind: IPPolicy, name: "on", remote });
  expect(parse(yaml, { version: "1.1" })).toMatchObject({
    metadata: { name: "on" },
    spec: { description: "yes", metadata: "0b11" },
  });
});

test("a kind without marks is imported as observe-only", () => {
  expect(write(policy, [], false).object.spec).toMatchObject({ managementPolicy: "ObserveOnly" });
});

test("an object that reads a Secret is observe-only until the Secret is filled in", () => {
  const remote = { id: "ed_1", format: "json", target: { monitoring: { service: "x", api_key: null } } };
  const { object, secrets, yaml } = write({ kind: EventDestination, name: "log", remote });
  const ref = { name: "eventdestination-log", key: "target.monitoring.apiKey" };
  expect(object.spec).toMatchObject({
    managementPolicy: "ObserveOnly",
    target: { monitoring: { service: "x", apiKeyRef: ref } },
  });
  expect(yaml).toMatch(/^# Only observed, until you fill in Secret eventdestination-log/);
  expect(secrets).toEqual([{ name: ref.name, data: { [ref.key]: undefined }, usedBy: "EventDestination/log" }]);
  expect(secretsYAML(secrets, "team")).toContain('  target.monitoring.apiKey: "" # fill in');
});

test("a certificate is written to its Secret, and the private key has to be filled in", () => {
  const pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const { secrets } = write({ kind: TLSCertificate, name: "web", remote: { id: "cert_1", certificate_pem: pem } });
  expect(parse(secretsYAML(secrets, undefined))).toEqual({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "tlscertificate-web" },
    type: "kubernetes.io/tls",
    stringData: { "tls.crt": pem, "tls.key": "" },
  });
});

test("an API key names a Secret, which the operator does not write after an adoption", () => {
  const { object, secrets } = write({ kind: APIKey, name: "ci", remote: { id: "ak_1", owner_id: "usr_1" } });
  expect(object.spec).toMatchObject({ tokenSecretName: "apikey-ci", ownerId: "usr_1" });
  expect(secrets).toEqual([]);
});

test("a host certificate keeps its end, so that it is not replaced", () => {
  const times = { valid_after: "2026-01-01T00:00:00Z", valid_until: "2026-02-01T00:00:00Z" };
  const remote = { id: "shcrt_1", ssh_certificate_authority_id: "sshca_1", public_key: "ssh-ed25519 AAAA", ...times };
  const { object } = write({ kind: SSHHostCertificate, name: "host", remote });
  expect(object.spec).toMatchObject({ validUntil: "2026-02-01T00:00:00Z" });
  expect(SSHHostCertificate.renewsAt(remote, object.spec)).toBeUndefined();
});

test("a route is identified by its fields, and not adopted", () => {
  const remote = { id: "edghts_1/edghtsrt_2", ip_restriction: { enabled: true, ip_policies: [{ id: "ipp_1" }] } };
  expect(write({ kind: HTTPSEdgeRoute, name: "route", remote }, [policy]).object.spec).toEqual({
    edgeId: "edghts_1",
    routeId: "edghtsrt_2",
    deletionPolicy: "Retain",
    ipRestriction: { ipPolicyRefs: [{ name: "office" }] },
  });
});

test("what the API server would refuse is left out and told, and nothing refers to it by name", () => {
  const headers = Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`x-${index}`, "1"]));
  const many = { id: "bkdhr_1", status_code: 200, body: "a", headers };
  const wrong = manifestOf({ kind: HTTPResponseBackend, name: "many", remote: many }, () => undefined, { mark: true });
  expect({ leftOut: wrong.leftOut, refusal: wrong.refusal }).toEqual({ leftOut: ["headers"], refusal: undefined });

  const half = manifestOf(
    { kind: IPPolicy, name: "half", remote: { id: "ipp_1", description: "\ud800" } },
    () => undefined,
    { mark: true },
  );
  expect({ leftOut: half.leftOut, refusal: half.refusal }).toEqual({ leftOut: ["description"], refusal: undefined });

  const destination = { kind: EventDestination, name: "empty", remote: { id: "ed_1", format: "json", target: {} } };
  const strange: Imported = { kind: IPPolicy, name: "office", remote: { id: "ipp_1\u2028---" } };
  const user = {
    ...edge,
    remote: { id: "edgtcp_1", ip_restriction: { enabled: true, ip_policies: [{ id: "ipp_1\u2028---" }] } },
  };
  const { manifests, refused } = manifestsOf([destination, strange, user], { mark: true });
  expect(refused.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["EventDestination", "IPPolicy"]));
  for (const { yaml } of manifests) expect(yaml).not.toContain("name: office");
});
