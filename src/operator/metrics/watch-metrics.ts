import { Gauge, type Registry } from "prom-client";
import type { MetricSources } from "./metric-sources.ts";

/** Whether the watch of each kind works, and whether this installation waits for another one. */
export function watchMetrics(registers: Registry[], sources: () => MetricSources | undefined): void {
  new Gauge({
    name: "tunnelgateway_watch_connected",
    help: "1 while the objects of a kind are listed and watched, else 0.",
    labelNames: ["kind"],
    registers,
    collect() {
      this.reset();
      for (const [kind, { isConnected }] of sources()?.watches ?? []) this.set({ kind }, isConnected ? 1 : 0);
    },
  });
  new Gauge({
    name: "tunnelgateway_installation_waiting",
    help: "1 while another installation has the same objects and this one waits, else 0.",
    registers,
    collect() {
      this.set(sources()?.claim?.isWaiting ? 1 : 0);
    },
  });
}
