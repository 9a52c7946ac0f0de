import { Resolver } from "node:dns/promises";
import type { Row } from "../resource/collection.ts";

/** Asks a DNS server, `address:port`, whether a domain has its CNAME record, or a wildcard that of the challenge. */
export function recordCheck(server: string): (row: Row) => Promise<boolean> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  resolver.setServers([server]);
  return async ({ members }) => {
    const { domain, cname_target: target, acme_challenge_cname_target: challenge } = members;
    // the service has the records of its own names
    if (typeof target !== "string") return true;
    const [name, wanted] = challenge
      ? [`_acme-challenge.${String(domain).replace(/^\*\./, "")}`, challenge]
      : [String(domain), target];
    const found = await resolver.resolveCname(name).catch(() => []);
    return found.some((one) => one === wanted);
  };
}
