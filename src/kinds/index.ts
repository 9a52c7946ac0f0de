import { AgentCommand } from "./agent-command.ts";
import { customResourceOf } from "./common.ts";
import type { CustomResource, Kind } from "./define.ts";
import { EventDestination } from "./event-destination.ts";
import { EventSubscription } from "./event-subscription.ts";
import { GatewayAccount } from "./gateway-account.ts";
import { IPPolicy } from "./ip-policy.ts";
import { ReservedAddress } from "./reserved-address.ts";
import { ReservedDomain } from "./reserved-domain.ts";
import { TCPEdge } from "./tcp-edge.ts";
import { TunnelGroupBackend } from "./tunnel-group-backend.ts";
import { TunnelSession } from "./tunnel-session.ts";

/** Every kind that is converged with the account. A new kind is a file and a line here. */
export const kinds: readonly Kind[] = [
  IPPolicy,
  ReservedAddress,
  ReservedDomain,
  TunnelGroupBackend,
  TCPEdge,
  EventDestination,
  EventSubscription,
];

/** Every kind that the API server is told of. */
export const customResources: readonly CustomResource[] = [
  GatewayAccount,
  ...kinds.map(customResourceOf),
  TunnelSession,
  AgentCommand,
];
