import type { DNSRecord, DNSSpec } from "../../schema/dns.ts";
import type { DNSEndpointContent } from "../cluster.ts";
import type { ReconcileContext } from "../context.ts";

export interface DNSSettings {
  /** Whether the operator writes a DNSEndpoint for the object. */
  writes: boolean;
  /** Whether the object asks for one, or has one by default, and its namespace has no right to it. */
  refused: boolean;
  /** Whether it asks for one itself, so that it is told. */
  denied: boolean;
  /** Whether the resolver is asked for the records. */
  looks: boolean;
  externalDNS: NonNullable<DNSSpec["externalDNS"]>;
}

export function settingsOf({ object, dns }: Pick<ReconcileContext, "object" | "dns">): DNSSettings {
  const { check, externalDNS } = (object.spec["dns"] ?? {}) as DNSSpec;
  const asks = externalDNS ? externalDNS.enabled !== false : dns.externalDNS;
  const may = dns.mayWrite(object.metadata.namespace);
  const writes = asks && may;
  return {
    writes,
    refused: asks && !may,
    denied: asks && !may && externalDNS !== undefined,
    looks: check ?? writes,
    externalDNS: externalDNS ?? {},
  };
}

/**
 * The content of the DNSEndpoint for the records. `owned`: it is deleted with the object. False where the remote stays,
 * since its records have to stay too.
 */
export function endpointFor(
  records: readonly DNSRecord[],
  { ttl, labels = {}, annotations = {} }: DNSSettings["externalDNS"],
  owned: boolean,
): DNSEndpointContent {
  const endpoints = records.map(({ name, type, targets }) => ({
    dnsName: name,
    recordType: type,
    targets,
    ...(ttl !== undefined && { recordTTL: ttl }),
  }));
  return { labels, annotations, endpoints, owned };
}
