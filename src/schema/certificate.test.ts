import { describe, expect, it } from "vitest";
import { AgentIngress } from "../kinds/agent-ingress.ts";
import { ReservedDomain } from "../kinds/reserved-domain.ts";
import type { Answer } from "./define.ts";

const now = Date.parse("2026-01-01T12:00:00Z");
const at = (seconds: number): string => new Date(now + seconds * 1000).toISOString();

const managed = (job: object | null, more: Answer = {}): Answer => ({
  domain: "a.example.com",
  created_at: at(-60),
  certificate_management_policy: { authority: "freeca", private_key_type: "rsa" },
  certificate_management_status: { renews_at: null, provisioning_job: job },
  ...more,
});

const provisioning = { error_code: null, msg: "validating", started_at: at(-30), retries_at: null };
const internal = { error_code: "INTERNAL_ERROR", msg: "try later", started_at: at(-30), retries_at: at(90) };
const dns = { error_code: "DNS_ERROR", msg: "no CNAME", started_at: at(-30), retries_at: at(90) };

const judge = (answer: Answer) => ReservedDomain.readiness(answer, now);

const issued = { certificate: { id: "cert_1", uri: "" } };

describe("readiness with a managed certificate", () => {
  it("is usable without conditions when the certificate is not managed", () => {
    expect(judge({ certificate_management_policy: null })).toMatchObject({ readiness: { state: "usable" } });
    expect(judge({}).conditions).toBeUndefined();
  });

  it.each([
    ["before the job starts", managed(null)],
    ["while there is no status", managed(null, { certificate_management_status: null })],
    ["while the answer shows a certificate of null", managed(null, { certificate: null })],
  ])("waits for the certificate %s, and is read again soon", (_, answer) => {
    const { readiness, conditions } = judge(answer);
    expect(readiness).toMatchObject({ state: "pending", reason: "CertificateProvisioning", afterSeconds: 5 });
    expect(conditions).toMatchObject([{ status: "False", reason: "CertificateProvisioning" }]);
  });

  it.each([
    ["the answer shows it", managed(null, issued)],
    ["its renewal is planned", managed(null, { certificate_management_status: { renews_at: at(86_400) } })],
  ])("counts the certificate as issued when %s", (_, answer) => {
    const { readiness, conditions } = judge(answer);
    expect(readiness).toMatchObject({ state: "usable" });
    expect(readiness).not.toHaveProperty("afterSeconds");
    expect(conditions).toMatchObject([{ type: "CertificateReady", status: "True", reason: "Available" }]);
  });

  it("waits while it is provisioned, and is read again soon", () => {
    const { readiness, conditions } = judge(managed(provisioning));
    expect(readiness).toMatchObject({ state: "pending", reason: "CertificateProvisioning", afterSeconds: 5 });
    expect(conditions).toMatchObject([{ status: "False", reason: "CertificateProvisioning" }]);
  });

  it.each([
    ["at the time the service names", at(90), 90],
    ["not sooner than after five seconds", at(-10), 5],
    ["not later than after an hour", at(7 * 86_400), 3600],
    ["after a minute where it names none", null, 60],
    ["after a minute where the time is none", "soon", 60],
  ])("is read again %s after a temporary failure", (_, retries_at, afterSeconds) => {
    const { readiness } = judge(managed({ ...internal, retries_at }));
    expect(readiness).toMatchObject({ state: "pending", reason: "CertificateRetrying", afterSeconds });
  });

  it.each([
    ["a certificate that stays provisioned", (since: string) => managed({ ...provisioning, started_at: since })],
    ["a job that never begins", (since: string) => managed(null, { created_at: since })],
    ["a retry that is always due", (since: string) => managed({ ...internal, started_at: since, retries_at: at(-1) })],
    ["a retry without a time", (since: string) => managed({ ...internal, started_at: since, retries_at: null })],
    ["a renewal that stays under way", (since: string) => managed({ ...provisioning, started_at: since }, issued)],
  ])("is read less and less often %s, and at least every hour", (_, answerOf) => {
    const lookAfter = (seconds: number) => judge(answerOf(at(-seconds))).readiness.afterSeconds ?? Number.NaN;
    expect(lookAfter(60)).toBeLessThanOrEqual(60);
    expect([3600, 36_000, 30 * 86_400].map(lookAfter)).toEqual([180, 1800, 3600]);
  });

  it("is read again soon if nothing shows since when it waits", () => {
    expect(judge(managed(null, { created_at: null })).readiness).toMatchObject({ afterSeconds: 5 });
  });

  it("treats an unknown error as temporary", () => {
    expect(judge(managed({ ...internal, error_code: "NEW_ERROR" })).readiness).toMatchObject({ state: "pending" });
  });

  it.each([
    ["from the start of the job", managed(dns), at(-30 + 600)],
    ["from the creation where the job has no start", managed({ ...dns, started_at: null }), at(-60 + 600)],
    ["from now where neither is known", managed({ ...dns, started_at: null }, { created_at: null }), at(600)],
  ])("allows ten minutes for a missing record %s", (_, answer, stalledAt) => {
    expect(judge(answer).readiness).toMatchObject({
      state: "failing",
      reason: "CertificateDNSError",
      afterSeconds: 60,
      stalledAt: Date.parse(stalledAt),
    });
  });

  it("is read every minute for ten minutes while a record is missing, and then rarely", () => {
    const after = (startedAt: string) => judge(managed({ ...dns, started_at: startedAt })).readiness.afterSeconds;
    expect([at(-599), at(-600)].map(after)).toEqual([60, 3600]);
  });

  it.each<[string, Answer, string]>([
    ["the CNAME of a host", { cname_target: "x.example.net" }, "Make the DNS record a.example.com CNAME x.example.net"],
    [
      "both records of a wildcard",
      { domain: "*.example.com", cname_target: "x.example.net", acme_challenge_cname_target: "y.example.net" },
      "Make the DNS records *.example.com CNAME x.example.net and _acme-challenge.example.com CNAME y.example.net",
    ],
    ["the domain where the service names no target", {}, "Correct the DNS records of a.example.com"],
  ])("names %s to create", (_, members, words) => {
    const { readiness } = judge(managed(dns, members));
    expect(readiness.message).toBe(`${words}: no CNAME`);
  });

  it("names the NS records of an ingress to create", () => {
    const answer = managed(dns, { ns_targets: ["ns1.example.net", "ns2.example.net"] });
    const { message } = AgentIngress.readiness(answer, now).readiness;
    expect(message).toBe("Make NS records for a.example.com: ns1.example.net, ns2.example.net: no CNAME");
  });

  it("quotes the error code when the service gives no message", () => {
    expect(judge(managed({ ...dns, msg: "" })).readiness.message).toMatch(/: DNS_ERROR$/);
  });

  describe("of a domain that is served already", () => {
    it.each([["provisioning", provisioning, 5, { status: "True", reason: "Available" }]])(
      "stays usable through %s of a renewal",
      (_, job, afterSeconds, condition) => {
        const { readiness, conditions } = judge(managed(job, issued));
        expect(readiness).toMatchObject({ state: "usable", afterSeconds });
        expect(readiness).not.toHaveProperty("reason");
        expect(conditions).toMatchObject([{ type: "CertificateReady", ...condition }]);
      },
    );

    it.each([
      ["a temporary failure", internal, 90, "Waiting for the service to try again"],
      ["a missing record", dns, 60, "Correct the DNS records"],
    ])("stays usable and says that the renewal fails through %s", (_, job, afterSeconds, words) => {
      const { readiness, conditions } = judge(managed(job, issued));
      expect(readiness).toMatchObject({ state: "usable", reason: "CertificateRenewalFailing", afterSeconds });
      expect(readiness.message).toContain(words);
      expect(readiness.message).toMatch(/\(the present certificate is served\)$/);
      expect(conditions).toMatchObject([{ status: "False", reason: "CertificateRenewalFailing" }]);
    });
  });
});

describe("a reserved domain", () => {
  it.each([
    [{ id: "cert_1" }, "usable"],
    [null, "pending"],
    [undefined, "pending"],
  ])("with certificate %o and a job is %s", (certificate, state) => {
    expect(ReservedDomain.readiness(managed(provisioning, { certificate }), now).readiness.state).toBe(state);
  });
});
