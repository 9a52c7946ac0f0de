import { Gauge, type Registry } from "prom-client";
import { accountsUsed, listedResources } from "../triggers/listed-resources.ts";
import type { MetricSources } from "./metric-sources.ts";

/** The age of the latest list of each resource that has remotes of objects. Only the leader lists. */
export function inventoryMetrics(registers: Registry[], sources: () => MetricSources | undefined): void {
  new Gauge({
    name: "tunnelgateway_inventory_age_seconds",
    help: "Time since the latest complete list of a resource began, by GatewayAccount and resource.",
    labelNames: ["account", "resource"],
    registers,
    collect() {
      this.reset();
      const observed = sources();
      if (!observed) return;
      const { kinds, accounts, clock } = observed;
      for (const { resource, kinds: shown } of listedResources(kinds)) {
        for (const account of accountsUsed(shown, observed)) {
          const { listedAt } = account.collection(resource);
          if (listedAt === undefined) continue;
          this.set({ account: accounts.labelOf(account), resource: resource.name }, (clock.now() - listedAt) / 1000);
        }
      }
    },
  });
}
