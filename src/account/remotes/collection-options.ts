import type { GatewayClient } from "../../gateway/client.ts";
import type { Remote, Resource } from "../../gateway/resource.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { CallsOptions } from "../requests/calls.ts";
import type { ListRoom } from "../requests/list-room.ts";
import type { ListDelta } from "./inventory.ts";

export interface CollectionOptions extends CallsOptions {
  client: GatewayClient;
  resource: Resource;
  clock: Clock;
  /** Aborts the lists under way. Reconciles share lists, so no single reconcile may abort one. */
  signal: AbortSignal;
  room: ListRoom;
  /** What keeps the list in the room (see ListRoom). Default: a place of its own, apart from any other reader. */
  place?: string;
  /** Called after each list. */
  onListDelta?: (delta: ListDelta) => void;
  /** Called when a list has failed, with the error that those get who wait for it. */
  onListFailed?: (error: unknown) => void;
  /** Called after this process has changed a remote. `after` is undefined when it deleted the remote. */
  onOwnChange?: (id: string, after: Remote | undefined) => void;
}
