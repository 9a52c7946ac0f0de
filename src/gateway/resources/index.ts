import type { Module, Resource } from "../resource.ts";
import { agentIngresses } from "./agent-ingresses.ts";
import { apiKeys } from "./api-keys.ts";
import { failoverBackends, httpResponseBackends, tunnelGroupBackends, weightedBackends } from "./backends.ts";
import { certificateAuthorities, tlsCertificates } from "./certificates.ts";
import { tcpEdgePolicy, tcpEdges, tlsEdges } from "./edges.ts";
import { eventDestinations, eventSubscriptions } from "./events.ts";
import { ipPolicies } from "./ip-policies.ts";
import { reservedAddresses } from "./reserved-addresses.ts";
import { reservedDomains } from "./reserved-domains.ts";
import { routeIPRestriction, routeOidc, routeSaml, routeWebhookVerification } from "./route-modules.ts";
import { sshCredentials, sshHostCertificates } from "./ssh.ts";
import { tunnelSessions } from "./tunnel-sessions.ts";

export * from "./agent-ingresses.ts";
export * from "./api-keys.ts";
export * from "./backends.ts";
export * from "./certificates.ts";
export * from "./edges.ts";
export * from "./events.ts";
export * from "./ip-policies.ts";
export * from "./reserved-addresses.ts";
export * from "./reserved-domains.ts";
export * from "./route-modules.ts";
export * from "./ssh.ts";
export * from "./tunnel-sessions.ts";

/** Every collection of the API page, in its order, except `eventSources`, which have no id. */
export const resources: readonly Resource[] = [
  apiKeys,
  ipPolicies,
  agentIngresses,
  reservedAddresses,
  reservedDomains,
  tunnelGroupBackends,
  httpResponseBackends,
  weightedBackends,
  failoverBackends,
  tcpEdges,
  tlsEdges,
  sshCredentials,
  sshHostCertificates,
  certificateAuthorities,
  tlsCertificates,
  tunnelSessions,
  eventDestinations,
  eventSubscriptions,
];

/** Every module that has a path of its own. */
export const modules: readonly Module[] = [
  tcpEdgePolicy,
  routeOidc,
  routeSaml,
  routeIPRestriction,
  routeWebhookVerification,
];
