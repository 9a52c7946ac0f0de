import type { Informer } from "../../runtime/cache/informer.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Kind } from "../../schema/define.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { InstallationClaim } from "../installations/claim.ts";
import type { Stores } from "../kubernetes/indexes.ts";

/** The data that metrics read at each scrape. Read at that moment, so that no series outlives its object. */
export interface MetricSources {
  kinds: readonly Kind[];
  informers: Stores;
  /** The objects that are counted: those of this installation. */
  counted: Stores;
  /** By the kind that they watch. */
  watches: ReadonlyMap<string, Pick<Informer, "isConnected" | "namespaces" | "isConnectedIn">>;
  claim?: Pick<InstallationClaim, "isWaiting"> | undefined;
  accounts: Pick<Accounts, "accountOf" | "most" | "labelOf">;
  clock: Clock;
}
