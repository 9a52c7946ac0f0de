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
    name: "tunnelgateway_namespace_connected",
    help: "1 while the objects of all kinds in a namespace of WATCH_NAMESPACES are listed and watched, else 0.",
    labelNames: ["namespace"],
    registers,
    collect() {
      this.reset();
      const watches = [...(sources()?.watches.values() ?? [])];
      for (const namespace of new Set(watches.flatMap(({ namespaces }) => namespaces))) {
        const broken = watches.some((one) => one.namespaces.includes(namespace) && !one.isConnectedIn(namespace));
        if (namespace !== "") this.set({ namespace }, broken ? 0 : 1);
      }
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
