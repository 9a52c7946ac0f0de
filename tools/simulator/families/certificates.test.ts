import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { selfSigned } from "../certificates/self-signed.ts";
import type { Members } from "../shape/members.ts";
import { type Account, openAccount } from "../testing/account.ts";

const shaped = "-----BEGIN CERTIFICATE-----\nbm90aGluZw==\n-----END CERTIFICATE-----\n";
const shapedKey = "-----BEGIN EC PRIVATE KEY-----\nbm90aGluZw==\n-----END EC PRIVATE KEY-----\n";
const leaf = selfSigned({
  commonName: "www.example.org",
  organization: "Example",
  dnsNames: ["www.example.org"],
  ips: ["192.0.2.1"],
  notBefore: new Date("2026-01-02T03:04:05Z"),
});
const other = selfSigned({ commonName: "other.example.org" });

let account: Account;
beforeEach(async () => {
  account = await openAccount();
});
afterEach(() => account[Symbol.asyncDispose]());

describe("TLS certificates", () => {
  const create = (more: Members = {}) =>
    account.send("POST", "/tls_certificates", {
      certificate_pem: leaf.certificatePem,
      private_key_pem: leaf.privateKeyPem,
      ...more,
    });

  it("tell what the leaf says, and never the key", async () => {
    const { body } = await create();
    expect(body).toMatchObject({
      certificate_pem: leaf.certificatePem,
      subject_common_name: "www.example.org",
      subject_organization: "Example",
      subject_country: "",
      subject_alternative_names: { dns_names: ["www.example.org"], ips: ["192.0.2.1"] },
      issuer_common_name: "www.example.org",
      issued_at: null,
      not_before: "2026-01-02T03:04:05Z",
      not_after: "2026-04-02T03:04:05Z",
      private_key_type: "ecdsa",
      key_usages: ["digitalSignature", "keyEncipherment"],
      serial_number: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    const all = JSON.stringify([
      body,
      (await account.send("GET", "/tls_certificates")).body,
      account.control.get(body.id),
    ]);
    expect(all).not.toContain("PRIVATE KEY");
  });

  it.each([
    [{ certificate_pem: "nothing" }, "certificate_pem"],
    [{ certificate_pem: leaf.privateKeyPem }, "certificate_pem"],
    [{ private_key_pem: leaf.certificatePem }, "private_key_pem"],
    [{ private_key_pem: other.privateKeyPem }, "private_key_pem"],
  ])("refuse what does not fit together (%#)", async (more, name) => {
    const { status, body } = await create(more);
    expect([status, body.msg.split(":")[0]]).toEqual([400, name]);
    expect(body.msg).not.toContain("BEGIN");
  });

  it("take what is only shaped like a certificate", async () => {
    const { status, body } = await create({ certificate_pem: shaped, private_key_pem: shapedKey });
    expect([status, body.subject_common_name]).toEqual([201, ""]);
  });

  it("cannot be deleted while a domain uses them", async () => {
    const { body } = await create();
    const { id } = account.control.insert("reserved_domains", { domain: "www.example.org", certificate_id: body.id });
    expect((await account.send("DELETE", `/tls_certificates/${body.id}`)).status).toBe(400);
    await account.send("DELETE", `/reserved_domains/${id}`);
    expect((await account.send("DELETE", `/tls_certificates/${body.id}`)).status).toBe(204);
  });
});

describe("certificate authorities", () => {
  const create = (pem: string) => account.send("POST", "/certificate_authorities", { ca_pem: pem });

  it("tell what their certificate says", async () => {
    const { body } = await create(selfSigned({ commonName: "Example CA", authority: true }).certificatePem);
    expect(body).toMatchObject({
      subject_common_name: "Example CA",
      key_usages: ["keyCertSign", "cRLSign"],
      extended_key_usages: [],
      not_after: expect.stringMatching(/Z$/),
    });
  });

  it("need a certificate", async () => {
    expect((await create(leaf.privateKeyPem)).status).toBe(400);
    expect((await create(shaped)).status).toBe(201);
  });
});
