import { X509Certificate } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Members } from "../../shape/members.ts";
import { type Account, openAccount } from "../../testing/account.ts";
import { sampleModules } from "../../testing/samples.ts";

const route = { edgeId: "edghts_1", routeId: "edghtsrt_1" };
const base = "/edges/https/edghts_1/routes/edghtsrt_1";

let account: Account;
let modules: Record<string, Members>;
beforeEach(async () => {
  account = await openAccount({ routes: [route] });
  modules = sampleModules(account.control);
});
afterEach(() => account[Symbol.asyncDispose]());

const put = (name: string, more: Members = {}) => account.send("PUT", `${base}/${name}`, { ...modules[name], ...more });

describe("routes", () => {
  it.each([
    ["/edges/https/edghts_1/routes/edghtsrt_2/oidc", 404],
    ["/edges/https/edghts_2/routes/edghtsrt_1/oidc", 404],
    ["/edges/https/edgtls_1/routes/edghtsrt_1/oidc", 400],
    ["/edges/https/edghts_1/routes/edghts_1/oidc", 400],
    ["/edges/https/edghts_1/routes/edghtsrt_1", 404],
    ["/edges/https", 404],
  ])("at %s: %i", async (path, status) => {
    expect((await account.send("GET", path)).status).toBe(status);
  });

  it("survive a reset when they are there from the start", async () => {
    const added = account.control.addRoute({ edgeId: "edghts_1" });
    account.control.reset();
    expect(account.control.objects("https_routes").map(({ id }) => id)).toEqual(["edghtsrt_1"]);
    expect(account.control.get(added.routeId)).toBeNull();
  });
});

describe("modules of a route", () => {
  it.each(["oidc", "saml", "ip_restriction", "webhook_verification"])("%s is put, read and deleted", async (name) => {
    const { status, body } = await put(name);
    expect([status, (await account.send("GET", `${base}/${name}`)).body]).toEqual([200, body]);
    expect((await account.send("DELETE", `${base}/${name}`)).status).toBe(204);
    expect((await account.send("GET", `${base}/${name}`)).status).toBe(404);
  });

  it("complete OIDC, and echo its secret", async () => {
    expect((await put("oidc")).body).toEqual({
      enabled: true,
      options_passthrough: false,
      cookie_prefix: "",
      inactivity_timeout: 0,
      maximum_duration: 0,
      issuer: "https://login.example.org",
      client_id: "web",
      client_secret: "s3cret",
      scopes: ["openid"],
    });
  });

  it("complete SAML with what the service provider is", async () => {
    const { body } = await put("saml");
    expect(body).toMatchObject({
      nameid_format: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
      idp_metadata_url: "",
      authorized_groups: [],
    });
    expect(body.entity_id).toBe(body.metadata_url);
    expect(new X509Certificate(body.request_signing_certificate_pem).subject).toContain("saml");
  });

  it("echo the webhook secret, which one provider does without", async () => {
    expect((await put("webhook_verification")).body).toEqual({ enabled: true, provider: "github", secret: "hush" });
    expect((await put("webhook_verification", { secret: "" })).status).toBe(400);
    expect((await put("webhook_verification", { provider: "sns", secret: "" })).status).toBe(200);
  });

  it.each([
    ["oidc", { issuer: "login.example.org" }, "issuer"],
    ["oidc", { issuer: undefined }, "issuer"],
    ["oidc", { client_secret: "" }, "client_secret"],
    ["oidc", { inactivity_timeout: -1 }, "inactivity_timeout"],
    ["oidc", { maximum_duration: 2 ** 32 }, "maximum_duration"],
    ["oidc", { maximum_duration: "60" }, "maximum_duration"],
    ["oidc", { scopes: "openid" }, "scopes"],
    ["saml", { idp_metadata: "nothing" }, "idp_metadata"],
    ["saml", { entity_id: "x" }, "entity_id"],
    ["saml", { idp_metadata_url: "" }, "idp_metadata_url"],
    ["ip_restriction", { ip_policy_ids: ["ipp_unknown"] }, "ip_policy_ids[0]"],
    ["webhook_verification", { provider: "" }, "provider"],
  ])("of kind %s refuse %j", async (name, more, member) => {
    const { status, body } = await put(name, more);
    expect([status, body.msg.split(":")[0]]).toEqual([400, member]);
  });
});
