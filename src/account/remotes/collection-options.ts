import type { GatewayClient } from "../../gateway/client.ts";
import type { Remote, Resource } from "../../gateway/resource.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { KeyProof } from "../key-proof.ts";
import type { CallsOptions } from "../requests/calls.ts";
import type { ListDelta } from "./inventory.ts";

export interface CollectionOptions extends CallsOptions {
  client: GatewayClient;
  resource: Resource;
  clock: Clock;
  /** Ends the lists under way. Reconciles share them, so none may end them itself. */
  signal: AbortSignal;
  /** Told what the service has shown. */
  keyProof?: KeyProof;
  /** Called after each list. */
  onListDelta?: (delta: ListDelta) => void;
  /** Called after this process has changed a remote, or with undefined deleted it. */
  onOwnChange?: (id: string, after: Remote | undefined) => void;
}
