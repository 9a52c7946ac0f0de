import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { days } from "../shape/time.ts";
import { type Account, openAccount } from "../testing/account.ts";

const policy = { authority: "freeca", private_key_type: "ecdsa" };

let account: Account;
beforeEach(async () => {
  account = await openAccount();
});
afterEach(() => account[Symbol.asyncDispose]());

const create = async (domain: string, path = "/reserved_domains") =>
  (await account.send("POST", path, { domain, certificate_management_policy: policy })).body;
const look = async ({ id }: { id: string }) => (await account.send("GET", `/reserved_domains/${id}`)).body;
const certificates = async () => (await account.send("GET", "/tls_certificates")).body.tls_certificates;

describe("a certificate job", () => {
  it("starts with the domain, and ends with a certificate", async () => {
    const domain = await create("www.example.org");
    expect(domain).toMatchObject({
      certificate: null,
      certificate_management_policy: policy,
      certificate_management_status: {
        renews_at: null,
        provisioning_job: { error_code: null, started_at: "2026-01-02T03:04:05Z", retries_at: null },
      },
    });
    account.pass(299);
    expect((await look(domain)).certificate).toBeNull();
    account.pass(1);
    const issued = await look(domain);
    expect(issued.certificate_management_status).toEqual({
      renews_at: "2026-03-03T03:04:05Z",
      provisioning_job: null,
    });
    const [certificate] = await certificates();
    expect(issued.certificate).toEqual({ id: certificate.id, uri: certificate.uri });
    expect(certificate).toMatchObject({
      issued_at: "2026-01-02T03:04:05Z",
      subject_common_name: "www.example.org",
      private_key_type: "ecdsa",
    });
  });

  it("runs for agent ingresses, which show no certificate", async () => {
    const ingress = await create("agents.example.org", "/agent_ingresses");
    expect(ingress.certificate_management_status.provisioning_job).not.toBeNull();
    account.pass(300);
    const { body } = await account.send("GET", ingress.uri);
    expect(body.certificate_management_status).toMatchObject({
      provisioning_job: null,
      renews_at: "2026-03-03T03:04:05Z",
    });
    expect(body).not.toHaveProperty("certificate");
  });

  it("fails for good where the record can never exist", async () => {
    const domain = await create("www.dns-error.example");
    account.pass(300);
    const { certificate, certificate_management_status: status } = await look(domain);
    expect(certificate).toBeNull();
    expect(status.provisioning_job).toMatchObject({ error_code: "DNS_ERROR", retries_at: "2026-01-02T04:04:05Z" });
  });

  it("renews when it is time, keeping the certificate until the new one is there", async () => {
    const domain = await create("www.example.org");
    account.pass(300);
    const { certificate: first } = await look(domain);
    account.pass(days(60));
    const renewing = await look(domain);
    expect(renewing.certificate).toEqual(first);
    expect(renewing.certificate_management_status.provisioning_job).toMatchObject({ error_code: null });
    account.pass(300);
    const renewed = await look(domain);
    expect(renewed.certificate.id).not.toBe(first.id);
    expect(renewed.certificate_management_status.provisioning_job).toBeNull();
    expect(await certificates()).toHaveLength(1);
  });

  it("ends with the domain, which takes its certificate along", async () => {
    const [early, late] = [await create("a.example.org"), await create("b.example.org")];
    await account.send("DELETE", `/reserved_domains/${early.id}`);
    account.pass(300);
    expect(await certificates()).toHaveLength(1);
    await account.send("DELETE", `/reserved_domains/${late.id}`);
    expect(account.control.accountIsEmpty()).toBe(true);
  });

  it("starts again with another policy, and ends without one", async () => {
    const domain = await create("www.example.org");
    account.pass(300);
    const path = `/reserved_domains/${domain.id}`;
    const same = await account.send("PATCH", path, { certificate_management_policy: policy });
    expect(same.body.certificate_management_status.provisioning_job).toBeNull();
    const other = { authority: "freeca", private_key_type: "rsa" };
    const changed = await account.send("PATCH", path, { certificate_management_policy: other });
    expect(changed.body.certificate_management_status.provisioning_job).not.toBeNull();
    const off = await account.send("PATCH", path, { certificate_management_policy: null });
    expect(off.body).toMatchObject({ certificate_management_status: null, certificate: null });
    account.pass(300);
    expect(await certificates()).toEqual([]);
  });
});

describe("a state that is forced", () => {
  const job = async (domain: { id: string }) => (await look(domain)).certificate_management_status.provisioning_job;

  it.each([
    ["dns_error", "DNS_ERROR", "2026-01-02T04:04:05Z"],
    ["internal_error", "INTERNAL_ERROR", "2026-01-02T03:05:05Z"],
    ["provisioning", null, null],
  ] as const)("to %s stays", async (state, code, retries) => {
    const domain = await create("www.example.org");
    account.control.certificate(domain.id, { state });
    expect(await job(domain)).toMatchObject({ error_code: code, retries_at: retries });
    account.pass(days(1));
    expect(await job(domain)).toMatchObject({ error_code: code });
  });

  it("says what it is told to say", async () => {
    const domain = await create("www.example.org");
    const retriesAt = "2027-01-01T00:00:00Z";
    account.control.certificate(domain.id, { state: "internal_error", msg: "Try later", retriesAt });
    expect(await job(domain)).toMatchObject({ msg: "Try later", retries_at: retriesAt });
  });

  it("to issued ends every trouble", async () => {
    const domain = await create("www.dns-error.example");
    account.pass(300);
    account.control.certificate(domain.id, { state: "issued" });
    expect(await job(domain)).toBeNull();
    expect((await look(domain)).certificate).not.toBeNull();
  });

  it("needs a policy", () => {
    const { id } = account.control.insert("reserved_domains", { domain: "www.example.org" });
    expect(() => account.control.certificate(String(id), { state: "issued" })).toThrow("no certificate policy");
  });
});
