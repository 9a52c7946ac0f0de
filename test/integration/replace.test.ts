import { expect, test } from "vitest";
import { authorityPem, secret, tlsSecret } from "../support/samples.ts";
import { isReady, type KubeJSON, manifest, useWorld } from "../support/world.ts";

const world = useWorld({ env: { RESYNC_INTERVAL: "1s" } });

const control = () => world.simulator.control;

/** The object once it stands for another remote than before, and the one before is gone. */
const replaced = (kind: string, name: string, before: string): Promise<KubeJSON> =>
  world.until(`${kind} ${name} has another remote than ${before}`, async () => {
    const object = await world.get(kind, name);
    const through = isReady(object) && object.status.id !== before && object.status.retiring === undefined;
    return through && control().get(before) === null && object;
  });

/** The order in which the account was changed: the last part of each path, or that of its collection for a create. */
const changes = (from: number): string[] =>
  world
    .changesSent()
    .slice(from)
    .map(({ method, path }) => `${method} ${path.split("/").at(-1)}`);

test("a renewed certificate is uploaded, its domain moves, and the old one goes last", async () => {
  const names = { commonName: "web.example.org", dnsNames: ["web.example.org"] };
  await world.kube.apply(tlsSecret("web", names), manifest("TLSCertificate", "web", { secretName: "web" }));
  const spec = { domain: "web.example.org", certificateRef: { name: "web" } };
  await world.kube.apply(manifest("ReservedDomain", "web", spec));
  const { status: old } = await world.ready("TLSCertificate", "web");
  const { status: domain } = await world.ready("ReservedDomain", "web");

  const from = world.changesSent().length;
  await world.kube.apply(tlsSecret("web", names));
  const { status: next } = await replaced("TLSCertificate", "web", old.id);
  expect(next.serialNumber).not.toBe(old.serialNumber);
  expect(control().get(domain.id)).toMatchObject({ certificate: { id: next.id } });
  expect(changes(from)).toEqual(["POST tls_certificates", `PATCH ${domain.id}`, `DELETE ${old.id}`]);
  const moved = await world.ready("ReservedDomain", "web");
  expect(moved.status.id).toBe(domain.id);
});

test("a changed authority is uploaded, its edge moves and is never without one", async () => {
  await world.kube.apply(manifest("CertificateAuthority", "clients", { caPem: authorityPem("First") }));
  const mutualTls = { certificateAuthorityRefs: [{ name: "clients" }] };
  await world.kube.apply(manifest("TLSEdge", "guarded", { mutualTls }));
  const { status: old } = await world.ready("CertificateAuthority", "clients");
  const { status: edge } = await world.ready("TLSEdge", "guarded");

  const from = world.changesSent().length;
  await world.kube.apply(manifest("CertificateAuthority", "clients", { caPem: authorityPem("Second") }));
  const { status: next } = await replaced("CertificateAuthority", "clients", old.id);
  const { mutual_tls: shown } = control().get(edge.id) as KubeJSON;
  expect(shown).toMatchObject({ enabled: true, certificate_authorities: [{ id: next.id }] });
  expect(changes(from)).toEqual(["POST certificate_authorities", `PATCH ${edge.id}`, `DELETE ${old.id}`]);
});

test("a host certificate follows its spec, and its Secret follows the certificate", async () => {
  const spec = {
    sshCertificateAuthorityId: "sshca_one",
    publicKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBp3nTqbB0VkQmNhWmFAk1vJzXyGZbpZHk6QWJwWzq1C",
    certificateSecretName: "host-certificate",
  };
  const written = async () => (await world.kube.get("Secret", "host-certificate"))?.data["ssh-host-cert.pub"];
  await world.kube.apply(manifest("SSHHostCertificate", "host", { ...spec, principals: ["one.example.org"] }));
  const { status: old } = await world.ready("SSHHostCertificate", "host");
  expect(Buffer.from(await written(), "base64").toString()).toBe(old.certificate);

  await world.kube.apply(manifest("SSHHostCertificate", "host", { ...spec, principals: ["two.example.org"] }));
  const { status: next } = await replaced("SSHHostCertificate", "host", old.id);
  expect(control().get(next.id)).toMatchObject({ principals: ["two.example.org"] });
  expect(Buffer.from(await written(), "base64").toString()).toBe(next.certificate);
});

test("a key whose Secret is lost is made anew, and the old one is refused", async () => {
  await world.kube.apply(manifest("APIKey", "ci", { tokenSecretName: "ci-token" }));
  const { status: old } = await world.ready("APIKey", "ci");
  const token = async () => Buffer.from((await world.kube.get("Secret", "ci-token")).data.token, "base64").toString();
  const accepted = async (key: string) => {
    const headers = { authorization: `Bearer ${key}`, "svc-version": "2" };
    return (await fetch(`${world.simulator.url}/ip_policies`, { headers })).status === 200;
  };
  const first = await token();
  expect(await accepted(first)).toBe(true);
  await world.kube.delete("Secret", "ci-token");
  await replaced("APIKey", "ci", old.id);
  expect(await accepted(await token())).toBe(true);
  expect(await accepted(first)).toBe(false);
});

test("a Secret that is somebody else's is not written to", async () => {
  await world.kube.apply(secret("taken", { token: "mine" }));
  const before = control().objects("api_keys").length;
  await world.kube.apply(manifest("APIKey", "greedy", { tokenSecretName: "taken" }));
  await world.condition("APIKey", "greedy", { type: "Ready", status: "False", reason: "SecretNotReady" });
  expect((await world.kube.get("Secret", "taken")).data).toEqual({ token: Buffer.from("mine").toString("base64") });
  expect(control().objects("api_keys")).toHaveLength(before);
});
