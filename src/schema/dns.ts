import * as z from "zod";
import { annotations, labels } from "./fields.ts";
import { hostname } from "./hosts.ts";
import { mark } from "./traits.ts";

/** A DNS record that has to exist so that a remote can be used. All names are in lower case, without a final dot. */
export interface DNSRecord {
  name: string;
  type: "CNAME" | "NS";
  targets: string[];
}

/** Reads the records from an answer. Empty if the service owns the name, since it then makes the records itself. */
export type DNSRecordsOf = (answer: Readonly<Record<string, unknown>>) => DNSRecord[];

/**
 * The records with these targets. Empty if the answer has no target. Sorted, so that the status does not change without
 * reason.
 */
export function records(type: DNSRecord["type"], name: unknown, targets: unknown): DNSRecord[] {
  const names = (Array.isArray(targets) ? targets : [targets]).filter((target) => typeof target === "string" && target);
  if (typeof name !== "string" || names.length === 0) return [];
  return [{ name: String(hostname(name)), type, targets: names.map((target) => String(hostname(target))).sort() }];
}

/** Such as `shop.example.com CNAME x.cname.example`. */
export const recordText = ({ name, type, targets }: DNSRecord): string => `${name} ${type} ${targets.join(", ")}`;

const dnsRecord = z.object({
  name: z.string().describe("Full name of the record, such as shop.example.com."),
  type: z.enum(["CNAME", "NS"]).describe("Type of the record."),
  targets: z.array(z.string()).describe("What the record points to: one name for a CNAME, several for NS."),
});

/** The status field with all records of an object. The answer has no such member, so it is derived from the others. */
export const dnsRecords = (recordsOf: DNSRecordsOf) =>
  mark(z.array(dnsRecord), {
    returns: "domain",
    decode: (_: string, answer) => {
      const all = recordsOf(answer);
      return all.length > 0 ? all : undefined;
    },
  })
    .optional()
    .describe("All DNS records that have to exist in your zone. Unset for names of the service's own.");

/** The spec field with which an object asks the operator to publish its records, or to check them in DNS. */
export interface DNSSpec {
  check?: boolean;
  externalDNS?: {
    enabled?: boolean;
    ttl?: number;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
}

const externalDNS = z.object({
  enabled: z
    .boolean()
    .optional()
    .describe("false: this object has no DNSEndpoint, whatever the default of the operator is."),
  ttl: z.int().min(1).max(2_147_483_647).optional().describe("TTL of the records in seconds. Default: the provider's."),
  labels: labels(64).optional().describe("Labels of the DNSEndpoint, for the label filter of external-dns."),
  annotations: annotations(64).optional().describe("Annotations of the DNSEndpoint, for the filter of external-dns."),
});

export const dns = mark(
  z.object({
    check: z
      .boolean()
      .optional()
      .describe(
        "Asks the resolver for the records and says in the condition DNSReady what is missing. On where externalDNS is on.",
      ),
    externalDNS: externalDNS
      .optional()
      .describe(
        "Has external-dns make the records: the operator writes a DNSEndpoint (externaldns.k8s.io/v1alpha1) for them. " +
          "Default: as the chart says in externalDNS.enabled.",
      ),
  }),
  { notInBody: true },
)
  .optional()
  .describe("Who makes the DNS records of the domain, and whether they are looked at.");
