import { describe, expect, it } from "vitest";
import { CertificateAuthority } from "../../kinds/certificate-authority.ts";
import { EventDestination } from "../../kinds/event-destination.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import type { Kind } from "../../schema/define.ts";
import { isEmpty, type PlanInput, plan, renewedMembers } from "./plan.ts";

const planned = (kind: Kind, sides: Partial<PlanInput>) =>
  plan(kind, { wanted: {}, seen: {}, applied: [], renewed: [], ...sides });

describe("plan", () => {
  it("is empty when nothing differs", () => {
    expect(isEmpty(planned(TunnelGroupBackend, {}))).toBe(true);
    const sides = { wanted: { labels: { a: "b" } }, seen: { labels: { a: "b" } } };
    expect(isEmpty(planned(TunnelGroupBackend, sides))).toBe(true);
  });

  it("sends all other members with any change, as the account has them when the spec does not set them", () => {
    const sides = { wanted: { description: "new" }, seen: { description: "old", labels: { theirs: "yes" } } };
    expect(planned(TunnelGroupBackend, sides)).toMatchObject({
      body: { description: "new", labels: { theirs: "yes" } },
      fields: ["description"],
    });
  });

  it("sends them with a change of a module, too", () => {
    const seen = { hostports: ["a:1"], backend: { enabled: true, backend_id: "b" } };
    const wanted = { backend: { enabled: true, backend_id: "c" } };
    expect(planned(TCPEdge, { wanted, seen }).body).toEqual({ hostports: ["a:1"], ...wanted });
  });

  it("leaves out modules that do not differ", () => {
    const seen = { description: "old", policy: { enabled: true }, backend: { enabled: true, backend_id: "b" } };
    const wanted = { description: "new", policy: { enabled: true } };
    expect(planned(TCPEdge, { wanted, seen }).body).toEqual({ description: "new" });
  });

  it("leaves out a member with a Secret that does not differ", () => {
    const wanted = { description: "new", format: "json", target: { monitoring: { api_key: "hush" } } };
    const seen = { description: "old", format: "json", target: { monitoring: {} } };
    expect(planned(EventDestination, { wanted, seen }).body).toEqual({ description: "new" });
  });

  it("sends a member whose Secret has changed", () => {
    const wanted = { target: { monitoring: { api_key: "new" } } };
    const result = planned(EventDestination, { wanted, seen: { target: { monitoring: {} } }, renewed: ["target"] });
    expect(result).toMatchObject({ body: wanted, fields: ["target"], undocumented: ["target"] });
  });

  it("names a member once whose Secret has changed and that differs as well", () => {
    const wanted = { target: { monitoring: { api_key: "new", site: "eu" } } };
    const seen = { target: { monitoring: { site: "us" } } };
    expect(planned(EventDestination, { wanted, seen, renewed: ["target"] }).fields).toEqual(["target"]);
  });

  it("sends no member that is to be renewed and that the spec does not set", () => {
    expect(isEmpty(planned(TunnelGroupBackend, { renewed: ["metadata"] }))).toBe(true);
  });

  it("removes members by their own operation, and leaves them out of the body", () => {
    const result = planned(TCPEdge, { seen: { policy: { enabled: true } }, applied: ["policy"] });
    expect(result).toMatchObject({ body: {}, remove: ["policy"], fields: ["policy"] });
    expect(isEmpty(result)).toBe(false);
  });

  it("switches a module on before it switches another one off, since each may take a request of its own", () => {
    const on = { enabled: true };
    const off = { enabled: false };
    const wanted = { ip_restriction: off, oidc: on, saml: on, webhook_verification: off };
    const seen = { ip_restriction: on, webhook_verification: on };
    const { body } = planned(HTTPSEdgeRoute, { wanted, seen });
    expect(Object.keys(body)).toEqual(["oidc", "saml", "ip_restriction", "webhook_verification"]);
  });

  it("distinguishes immutable fields and undocumented members", () => {
    const wanted = { domain: "b.com", description: "new" };
    expect(planned(ReservedDomain, { wanted, seen: { domain: "a.com", description: "old" } })).toMatchObject({
      frozen: ["domain"],
      fields: ["description"],
      undocumented: ["description"],
    });
  });

  it("clears the certificate when the spec asks for a managed one", () => {
    const policy = { certificate_management_policy: { authority: "freeca", private_key_type: "rsa" } };
    const result = planned(ReservedDomain, {
      wanted: policy,
      seen: { certificate_id: "cert_1" },
      applied: ["certificateRef"],
    });
    expect(result.body).toEqual({ ...policy, certificate_id: null });
  });
});

describe("renewedMembers", () => {
  const spec = { target: { monitoring: { apiKeyRef: { name: "dd", key: "api" } } } };

  it.each([
    ["was not sent yet", ["target.monitoring.apiKeyRef"], ["target"]],
    ["was", [], []],
  ])("names the member with a field whose value %s", (_, unsent, expected) => {
    expect(renewedMembers(EventDestination, spec, unsent)).toEqual(expected);
  });

  it.each<[string, Kind, Record<string, unknown>, string]>([
    ["a Secret that members are spread from", TLSCertificate, { secretName: "dd" }, "secretName#certificate_pem"],
    [
      "a text that the service accepts only in a create",
      CertificateAuthority,
      { caPemFrom: { secretKeyRef: { name: "dd", key: "ca" } } },
      "caPemFrom.secretKeyRef",
    ],
  ])("leaves out members whose value answers show, such as %s", (_, kind, given, field) => {
    expect(renewedMembers(kind, given, [field])).toEqual([]);
  });
});
