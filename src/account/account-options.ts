import type { GatewayClient } from "../gateway/client.ts";
import type { Remote, Resource } from "../gateway/resource.ts";
import type { Clock } from "../runtime/clock.ts";
import type { KeyProofOptions } from "./key-proof.ts";
import type { MassLossGuardOptions } from "./mass-loss-guard.ts";
import type { ListDelta } from "./remotes/inventory.ts";
import type { ListRoom } from "./requests/list-room.ts";
import type { RequestBudget } from "./requests/request-budget.ts";

export interface AccountOptions {
  client: GatewayClient;
  budget: RequestBudget;
  clock: Clock;
  /** What the lists of all accounts may take. Default: there is room for all. */
  room?: ListRoom;
  /** Whether a list has the place in the room of what others have read by the name of its resource. Default: false. */
  sharesLists?: true;
  /** Whether operations that the API page does not show are tried. */
  undocumented: boolean;
  /** Deletes per minute. 0: no limit. */
  deletesPerMinute: number;
  /**
   * How often lists and modules are read again. The window of the mass-loss guard, and the time until a failing list is
   * told, follow from it. Default 5 minutes.
   */
  resyncSeconds?: number;
  signal: AbortSignal;
  /** How the API key is known to be one of this account. Default: nothing is recorded, so it needs no proof. */
  key?: Omit<KeyProofOptions, "clock" | "readList" | "readOne"> & {
    /**
     * Ids that a list of this resource showed to other credentials under the present key. Undefined: no other
     * credentials have such a list.
     */
    listedElsewhere?: (resource: Resource) => Promise<readonly string[] | undefined>;
  };
  /** Asked right before anything is changed in the account; throws when this process may not. */
  assertMaySend: () => void;
  /**
   * Called when the service answers again, or accepts the key again. Reconcile the objects that failed in the meantime.
   */
  onRecovered?: () => void;
  /** Called when objects whose last attempt failed may be tried again. */
  onReleased?: () => void;
  /** Called when the circuit breaker opens. */
  onOpened?: () => void;
  loss?: Pick<MassLossGuardOptions, "isConfirmedAtStart" | "onChange"> & {
    /** Whether an object has this remote. The mass-loss guard does not wait for a remote without an object. */
    hasObjectFor?: (id: string) => boolean;
  };
  onListDelta?: (resource: Resource, delta: ListDelta) => void;
  /** Called when the list of a resource has failed for longer than an interval, and when it succeeds again. */
  onListProblem?: (resource: Resource) => void;
  /**
   * Called after this process has changed a remote through this account. `after` is undefined when it deleted the
   * remote.
   */
  onOwnChange?: (resource: Resource, id: string, after: Remote | undefined) => void;
}
