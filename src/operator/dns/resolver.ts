import { Resolver } from "node:dns/promises";

/** The time limit of one attempt. */
const TIMEOUT_MS = 2_000;
const TRIES = 2;

/** A resolver that asks these servers, or those of the system if there are none. Each is `address` or `address:port`. */
export function resolverFor(servers: readonly string[]): Resolver {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  return resolver;
}
