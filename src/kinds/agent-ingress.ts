import * as z from "zod";
import { agentIngresses } from "../gateway/resources/index.ts";
import { managedCertificate } from "../schema/certificate.ts";
import { textColumn } from "../schema/columns.ts";
import { defineKind } from "../schema/define.ts";
import { type DNSRecordsOf, dns, dnsRecords, records } from "../schema/dns.ts";
import { hostName, immutable, texts } from "../schema/fields.ts";
import { hostname } from "../schema/hosts.ts";
import { certificateManagementPolicy, certificateManagementStatus } from "../schema/modules/certificate-policy.ts";
import { mark } from "../schema/traits.ts";

const recordsOf: DNSRecordsOf = ({ domain, ns_targets }) => records("NS", domain, ns_targets);

export const AgentIngress = defineKind({
  kind: "AgentIngress",
  plural: "agentingresses",
  shortNames: ["gwagin"],
  summary: "A domain of yours under which agents connect to the service, region by region.",
  resource: agentIngresses,
  naturalKey: "domain",
  spec: z.object({
    ...texts,
    domain: mark(immutable(hostName), { normalize: hostname }).describe(
      "Base name of the regional agent domains. Delegate it with the NS records that the status gives.",
    ),
    certificateManagementPolicy,
    dns,
  }),
  status: z.object({
    nsTargets: z.array(z.string()).optional().describe("Make NS records for the domain with these values."),
    dnsRecords: dnsRecords(recordsOf),
    regionDomains: z
      .array(z.string())
      .optional()
      .describe("Agent domains of the regions. There may be more with time."),
    certificateManagementStatus,
  }),
  columns: [
    textColumn("Domain", { width: 22, value: ({ spec }) => spec["domain"] }),
    textColumn("Nameservers", { width: 36, value: ({ status }) => status["nsTargets"], wide: true }),
  ],
  ...managedCertificate(recordsOf),
});
