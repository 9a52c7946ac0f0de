import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Members } from "../shape/members.ts";
import { type Account, openAccount } from "../testing/account.ts";
import { sampleBodies } from "../testing/samples.ts";

let account: Account;
beforeEach(async () => {
  account = await openAccount();
});
afterEach(() => account[Symbol.asyncDispose]());

const create = (body: Members, path = "/reserved_domains") => account.send("POST", path, body);
const policy = { authority: "freeca" };

describe("reserved domains", () => {
  it.each([
    ["a custom name", "www.example.org", [expect.stringMatching(/\.gateway-cname\.example$/), null]],
    ["a custom wildcard", "*.example.org", [expect.any(String), expect.stringMatching(/\.acme\./)]],
    ["a name of the service", "app.gateway.example", [null, null]],
    ["a wildcard of the service", "*.app.gateway.example", [null, null]],
  ])("give %s its targets", async (_, domain, targets) => {
    const { body } = await create({ domain });
    expect([body.cname_target, body.acme_challenge_cname_target]).toEqual(targets);
  });

  it("show unset members as the page says", async () => {
    const { body } = await create({ domain: "WWW.Example.org" });
    expect(body).toMatchObject({
      domain: "www.example.org",
      region: "",
      certificate: null,
      certificate_management_policy: null,
      certificate_management_status: null,
      http_endpoint_configuration: null,
      https_endpoint_configuration: null,
    });
    expect(body).not.toHaveProperty("certificate_id");
  });

  it.each([
    ["", "domain"],
    ["localhost", "domain"],
    ["a..b", "domain"],
    ["-a.example.org", "domain"],
    ["a.*.example.org", "domain"],
    ["exämple.org", "domain"],
    ["https://example.org", "domain"],
    [`${"a".repeat(64)}.example.org`, "domain"],
    [`${"a.".repeat(127)}example`, "domain"],
  ])("refuse the domain %j", async (domain) => {
    const { status, body } = await create({ domain });
    expect([status, body.msg]).toEqual([400, "domain: is not a valid domain"]);
  });

  it.each([
    [{ region: "mars" }, "region"],
    [{ region: "" }, "region"],
    [{ certificate_id: "cert_unknown" }, "certificate_id"],
    [{ certificate_id: "ipp_1" }, "certificate_id"],
    [{ certificate_management_policy: {} }, "certificate_management_policy.authority"],
    [{ certificate_management_policy: { authority: "other" } }, "certificate_management_policy.authority"],
    [
      { certificate_management_policy: { ...policy, private_key_type: "ed25519" } },
      "certificate_management_policy.private_key_type",
    ],
    [{ certificate_management_policy: { ...policy, x: 1 } }, "certificate_management_policy.x"],
  ])("refuse %j", async (more, name) => {
    const { status, body } = await create({ domain: "www.example.org", ...more });
    expect([status, body.msg.split(":")[0]]).toEqual([400, name]);
  });

  it("take either a certificate or a policy", async () => {
    const { id } = account.control.insert("tls_certificates", sampleBodies(account.control).tls_certificates ?? {});
    const both = { certificate_id: id, certificate_management_policy: policy };
    expect((await create({ domain: "www.example.org", ...both })).status).toBe(400);
    const { body } = await create({ domain: "www.example.org", certificate_id: id });
    expect(body.certificate.id).toBe(id);
    const managed = await account.send("PATCH", `/reserved_domains/${body.id}`, {
      certificate_management_policy: policy,
    });
    expect(managed.body.certificate).toBeNull();
    const uploaded = await account.send("PATCH", `/reserved_domains/${body.id}`, { certificate_id: id });
    expect(uploaded.body).toMatchObject({ certificate: { id }, certificate_management_policy: null });
  });

  it("choose the type of key", async () => {
    const { body } = await create({ domain: "www.example.org", certificate_management_policy: policy });
    expect(body.certificate_management_policy).toEqual({ authority: "freeca", private_key_type: "rsa" });
  });

  it("are reserved once, until they are deleted", async () => {
    const { body } = await create({ domain: "www.example.org" });
    expect((await create({ domain: "WWW.example.org" })).status).toBe(409);
    await account.send("DELETE", `/reserved_domains/${body.id}`);
    expect((await create({ domain: "www.example.org" })).status).toBe(201);
  });
});

describe("agent ingresses", () => {
  it("generate names below their domain", async () => {
    const { body } = await create({ domain: "agents.example.org" }, "/agent_ingresses");
    expect(body.uri).toBe(`/agent_ingresses/${body.id}`);
    expect(body.ns_targets.length).toBeGreaterThan(0);
    expect(body.region_domains.every((name: string) => name.endsWith(".agents.example.org"))).toBe(true);
    expect((await create({ domain: "agents.example.org" }, "/agent_ingresses")).status).toBe(409);
  });

  it("take no wildcard", async () => {
    expect((await create({ domain: "*.example.org" }, "/agent_ingresses")).status).toBe(400);
  });
});

describe("reserved addresses", () => {
  it("are assigned in their region", async () => {
    const { body } = await create({ region: "jp" }, "/reserved_addrs");
    expect(body).toMatchObject({ region: "jp", endpoint_configuration: null });
    expect(body.addr).toMatch(/^\d\.tcp\.jp\.gateway\.example:\d{5}$/);
    expect((await create({}, "/reserved_addrs")).body.region).toBe("us");
    expect((await create({ region: "xx" }, "/reserved_addrs")).status).toBe(400);
  });

  it("have an endpoint configuration attached and detached by an update", async () => {
    const { body } = await create({}, "/reserved_addrs");
    const patch = (id: unknown) =>
      account.send("PATCH", `/reserved_addrs/${body.id}`, { endpoint_configuration_id: id });
    expect((await create({ endpoint_configuration_id: "ec_1" }, "/reserved_addrs")).status).toBe(400);
    expect((await patch("ec_1")).body.endpoint_configuration.id).toBe("ec_1");
    expect((await patch("ec_missing1")).status).toBe(400);
    expect((await patch("rd_1")).status).toBe(400);
    expect((await patch(null)).body.endpoint_configuration).toBeNull();
  });
});
