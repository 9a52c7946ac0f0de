import { customResourceOf } from "../schema/common.ts";
import type { CustomResource, Kind } from "../schema/define.ts";
import { AgentCommand } from "./agent-command.ts";
import { AgentIngress } from "./agent-ingress.ts";
import { APIKey } from "./api-key.ts";
import { CertificateAuthority } from "./certificate-authority.ts";
import { EventDestination } from "./event-destination.ts";
import { EventSource } from "./event-source.ts";
import { EventSubscription } from "./event-subscription.ts";
import { FailoverBackend } from "./failover-backend.ts";
import { GatewayAccount } from "./gateway-account.ts";
import { HTTPResponseBackend } from "./http-response-backend.ts";
import { HTTPSEdgeRoute } from "./https-edge-route.ts";
import { IPPolicy } from "./ip-policy.ts";
import { ReservedAddress } from "./reserved-address.ts";
import { ReservedDomain } from "./reserved-domain.ts";
import { SSHCredential } from "./ssh-credential.ts";
import { SSHHostCertificate } from "./ssh-host-certificate.ts";
import { TCPEdge } from "./tcp-edge.ts";
import { TLSCertificate } from "./tls-certificate.ts";
import { TLSEdge } from "./tls-edge.ts";
import { TunnelGroupBackend } from "./tunnel-group-backend.ts";
import { TunnelSession } from "./tunnel-session.ts";
import { WeightedBackend } from "./weighted-backend.ts";

/** Every kind that `src/reconcile` manages. */
export const kinds: readonly Kind[] = [
  APIKey,
  IPPolicy,
  AgentIngress,
  ReservedAddress,
  ReservedDomain,
  TunnelGroupBackend,
  HTTPResponseBackend,
  WeightedBackend,
  FailoverBackend,
  TCPEdge,
  TLSEdge,
  HTTPSEdgeRoute,
  SSHCredential,
  SSHHostCertificate,
  CertificateAuthority,
  TLSCertificate,
  EventDestination,
  EventSubscription,
  EventSource,
];

/** Every kind that has a CRD. */
export const customResources: readonly CustomResource[] = [
  GatewayAccount,
  ...kinds.map(customResourceOf),
  TunnelSession,
  AgentCommand,
];
