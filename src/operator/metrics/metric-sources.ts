import type { Clock } from "../../runtime/clock.ts";
import type { Kind } from "../../schema/define.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Stores } from "../kubernetes/indexes.ts";

/** What metrics read at each scrape, so that no series outlives its object. */
export interface MetricSources {
  kinds: readonly Kind[];
  informers: Stores;
  accounts: Pick<Accounts, "accountOf" | "labelOf">;
  clock: Clock;
}
