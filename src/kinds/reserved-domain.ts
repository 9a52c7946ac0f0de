import * as z from "zod";
import { reservedDomains } from "../gateway/resources/index.ts";
import { managedCertificate } from "../schema/certificate.ts";
import { textColumn } from "../schema/columns.ts";
import { defineKind } from "../schema/define.ts";
import { type DNSRecordsOf, dns, dnsRecords, records } from "../schema/dns.ts";
import { domain, immutable, refTo, regions, texts } from "../schema/fields.ts";
import { hostname } from "../schema/hosts.ts";
import { certificateManagementPolicy, certificateManagementStatus } from "../schema/modules/certificate-policy.ts";
import { hasNotBoth } from "../schema/rules.ts";
import { remoteRef, text } from "../schema/status.ts";
import { mark } from "../schema/traits.ts";

const recordsOf: DNSRecordsOf = ({ domain, cname_target, acme_challenge_cname_target }) => [
  ...records("CNAME", domain, cname_target),
  ...records("CNAME", `_acme-challenge.${String(domain).replace(/^\*\./, "")}`, acme_challenge_cname_target),
];

export const ReservedDomain = defineKind({
  kind: "ReservedDomain",
  shortNames: ["gwrd"],
  summary: "A host name that the service reserves for the account, with its certificate.",
  resource: reservedDomains,
  naturalKey: "domain",
  address: "domain",
  spec: z.object({
    ...texts,
    domain: mark(immutable(domain), { normalize: hostname }).describe(
      "Host name to reserve. A name under your own domain needs the CNAME record that the status gives.",
    ),
    region: immutable(z.enum(regions)).optional().describe("Deprecated by the service: traffic is handled globally."),
    certificateRef: refTo("TLSCertificate", {
      sends: "certificate_id",
      returns: "certificate",
      // with automatic management, the answer names the certificate that the service issued, which no spec names
      decode: ({ id }: { id: string }, { certificate_management_policy }) =>
        certificate_management_policy ? undefined : id,
    })
      .optional()
      .describe("An uploaded certificate to serve. Excludes certificateManagementPolicy."),
    certificateManagementPolicy,
    dns,
  }),
  rules: [
    {
      rule: "!(has(self.certificateRef) && has(self.certificateManagementPolicy))",
      message: "must not set both `certificateRef` and `certificateManagementPolicy`: choose one",
      fieldPath: ".certificateRef",
      holds: hasNotBoth("certificateRef", "certificateManagementPolicy"),
    },
  ],
  status: z.object({
    domain: text("The reserved host name."),
    cnameTarget: text("Make a CNAME record for the domain that points here. Unset for names of the service's own."),
    acmeChallengeCnameTarget: text(
      "Make a CNAME record for _acme-challenge.<domain> that points here. Only for wildcard domains.",
    ),
    dnsRecords: dnsRecords(recordsOf),
    certificate: remoteRef.optional().describe("The certificate that is served."),
    certificateManagementStatus,
    httpEndpointConfiguration: remoteRef.optional().describe("Endpoint configuration for HTTP."),
    httpsEndpointConfiguration: remoteRef.optional().describe("Endpoint configuration for HTTPS."),
  }),
  columns: [
    textColumn("Domain", { width: 22, value: ({ spec }) => spec["domain"] }),
    // A record that is cut in half is of no use, so show a hint instead.
    textColumn("CNAME", {
      width: 38,
      value: ({ status }) => status["cnameTarget"],
      instead: "see .status.cnameTarget",
    }),
  ],
  servedWith: { member: "certificate", kind: "TLSCertificate" },
  ...managedCertificate(recordsOf),
});
