import * as z from "zod";
import { hostname } from "./fields.ts";
import { mark } from "./traits.ts";

/** A DNS record that has to exist so that a remote can be used. All names are in lower case, without a final dot. */
export interface DNSRecord {
  name: string;
  type: "CNAME" | "NS";
  targets: string[];
}

/** Reads the records from an answer of the service. Empty for names that the service owns. */
export type DNSRecordsOf = (answer: Readonly<Record<string, unknown>>) => DNSRecord[];

/** The records with these targets. None where the service shows no target. Sorted, so that the order never changes. */
export function records(type: DNSRecord["type"], name: unknown, targets: unknown): DNSRecord[] {
  const names = (Array.isArray(targets) ? targets : [targets]).filter((target) => typeof target === "string" && target);
  if (typeof name !== "string" || names.length === 0) return [];
  return [{ name: String(hostname(name)), type, targets: names.map((target) => String(hostname(target))).sort() }];
}

/** The records in words, such as `shop.example.com CNAME x.cname.example`. */
export const recordText = ({ name, type, targets }: DNSRecord): string => `${name} ${type} ${targets.join(", ")}`;

const dnsRecord = z.object({
  name: z.string().describe("Full name of the record, such as shop.example.com."),
  type: z.enum(["CNAME", "NS"]).describe("Type of the record."),
  targets: z.array(z.string()).describe("What the record points to: one name for a CNAME, several for NS."),
});

/** The status field with all records of an object. The answer has no such member: it is derived from the others. */
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
