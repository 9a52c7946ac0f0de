import { describe, expect, it } from "vitest";
import { CertificateAuthority } from "../kinds/certificate-authority.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import { SSHHostCertificate } from "../kinds/ssh-host-certificate.ts";
import { TLSCertificate } from "../kinds/tls-certificate.ts";
import { isExpired, readinessOf, validityOfStatus } from "./readiness.ts";

const now = Date.parse("2026-01-01T12:00:00Z");
const at = (seconds: number): string => new Date(now + seconds * 1000).toISOString();

describe("the readiness of a certificate", () => {
  it("lasts until its end, and is asked for again then", () => {
    const { readiness } = readinessOf(TLSCertificate, { not_after: at(90) }, { secretName: "tls" }, now);
    expect(readiness).toMatchObject({ state: "usable", afterSeconds: 90 });
  });

  it.each([
    [TLSCertificate, { not_after: at(0) }, { secretName: "tls" }, 'Renew the certificate in Secret "tls"'],
    [CertificateAuthority, { not_after: at(-1) }, { caPem: "x" }, "Put certificates that are valid into spec.caPem"],
    [CertificateAuthority, { not_after: at(-1) }, {}, "Put certificates that are valid into spec.caPemFrom"],
    [SSHHostCertificate, { valid_until: at(-1) }, { validUntil: at(-1) }, "Set a later spec.validUntil"],
    [SSHHostCertificate, { valid_until: at(-1) }, {}, "Waiting for the renewal"],
  ])("of a $kind ends with it, and the message begins with what to do", (kind, answer, spec, words) => {
    const { readiness } = readinessOf(kind, answer, spec, now);
    expect(readiness).toMatchObject({ state: "failing", reason: "CertificateExpired", stalledAt: 0 });
    expect(readiness.message).toMatch(new RegExp(`^${words}: the certificate ended at 2026-01-01T1[12]:`));
    const { reason, message } = readiness;
    expect(readinessOf(kind, answer, spec, now).conditions).toEqual([
      { type: "CertificateReady", status: "False", reason, message },
    ]);
  });

  it.each([
    [TLSCertificate, { not_before: at(90), not_after: at(900) }],
    [CertificateAuthority, { not_before: at(90), not_after: at(900) }],
    [SSHHostCertificate, { valid_after: at(90), valid_until: at(900) }],
  ])("of a $kind waits for its begin, and is asked for again then", (kind, answer) => {
    const { readiness, conditions } = readinessOf(kind, answer, {}, now);
    const reason = "CertificateNotYetValid";
    const message = "Waiting for 2026-01-01T12:01:30Z: the certificate is not valid before";
    expect(readiness).toEqual({ state: "pending", reason, message, afterSeconds: 90 });
    expect(conditions).toEqual([{ type: "CertificateReady", status: "False", reason, message }]);
    expect(readinessOf(kind, answer, {}, now + 90_000).readiness.state).toBe("usable");
  });

  it.each([
    ["begins within a minute, by which clocks may differ", { not_before: at(60), not_after: at(900) }, "usable"],
    ["would begin after its end, which has come", { not_before: at(90), not_after: at(0) }, "failing"],
  ])("that %s", (_, answer, state) => {
    expect(readinessOf(TLSCertificate, answer, {}, now).readiness.state).toBe(state);
  });

  it.each([{}, { not_after: null }, { not_after: "soon" }])("has no end when the answer is %o", (answer) => {
    expect(readinessOf(TLSCertificate, answer, {}, now).readiness).not.toHaveProperty("afterSeconds");
  });

  it("is told by a condition", () => {
    const reported = {
      type: "CertificateReady",
      status: "True",
      reason: "Available",
      message: "The certificate is valid until 2026-01-01T12:01:30Z",
    };
    expect(readinessOf(SSHHostCertificate, { valid_until: at(90) }, {}, now).conditions).toEqual([reported]);
    expect(validityOfStatus(SSHHostCertificate, {}, { validUntil: at(90) }, now)).toEqual(reported);
    for (const status of [undefined, {}]) expect(validityOfStatus(SSHHostCertificate, {}, status, now)).toBeUndefined();
    for (const kind of [TLSCertificate, CertificateAuthority, SSHHostCertificate])
      expect(kind.ownConditions).toEqual(["CertificateReady"]);
  });

  it("has no end for kinds without a validity", () => {
    expect(readinessOf(IPPolicy, { not_after: at(-1) }, {}, now).readiness.state).toBe("usable");
    expect(isExpired(IPPolicy, { notAfter: at(-1) }, now)).toBe(false);
  });
});
