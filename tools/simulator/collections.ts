import { agentIngresses } from "./families/agent-ingresses.ts";
import { apiKeys } from "./families/api-keys.ts";
import { failoverBackends, httpResponseBackends, tunnelGroupBackends, weightedBackends } from "./families/backends.ts";
import { certificateAuthorities } from "./families/certificate-authorities.ts";
import { tcpEdges, tlsEdges } from "./families/edges/edges.ts";
import { httpsRoutes } from "./families/edges/https-routes.ts";
import { eventDestinations } from "./families/events/event-destinations.ts";
import { eventSubscriptions } from "./families/events/event-subscriptions.ts";
import { ipPolicies } from "./families/ip-policies.ts";
import { reservedAddrs } from "./families/reserved-addrs.ts";
import { reservedDomains } from "./families/reserved-domains.ts";
import { tunnelSessions } from "./families/sessions/tunnel-sessions.ts";
import { sshCredentials } from "./families/ssh-credentials.ts";
import { sshHostCertificates } from "./families/ssh-host-certificates.ts";
import { tlsCertificates } from "./families/tls-certificates.ts";
import type { Collection } from "./resource/collection.ts";

/** The collections of an account. */
export const collections: readonly Collection[] = [
  apiKeys,
  ipPolicies,
  agentIngresses,
  reservedAddrs,
  reservedDomains,
  tunnelGroupBackends,
  httpResponseBackends,
  weightedBackends,
  failoverBackends,
  tcpEdges,
  tlsEdges,
  httpsRoutes,
  sshCredentials,
  sshHostCertificates,
  certificateAuthorities,
  tlsCertificates,
  tunnelSessions,
  eventDestinations,
  eventSubscriptions,
];

/** Finds a collection by its path, with or without the leading slash. */
export function collectionNamed(name: string): Collection {
  const collection = collections.find((candidate) => candidate.name === name.replace(/^\//, ""));
  if (!collection) throw new Error(`there is no collection ${name}`);
  return collection;
}
