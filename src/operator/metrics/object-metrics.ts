import { Gauge, type Registry } from "prom-client";
import { conditionOf, type Status } from "../../objects/object.ts";
import type { MetricSources } from "./metric-sources.ts";

/** Counts the objects of each kind by what their conditions say. */
export function objectMetrics(registers: Registry[], sources: () => MetricSources | undefined): void {
  new Gauge({
    name: "tunnelgateway_resources",
    help: "Objects by kind, and by status and reason of their Ready condition.",
    labelNames: ["kind", "ready", "reason"],
    registers,
    collect() {
      this.reset();
      for (const [kind, status] of statuses(sources())) {
        const ready = conditionOf(status, "Ready");
        this.inc({ kind, ready: ready?.status ?? "Unknown", reason: ready?.reason ?? "Pending" });
      }
    },
  });
  new Gauge({
    name: "tunnelgateway_stalled_objects",
    help: "Objects that wait for a person, by kind and by the reason of their Stalled condition.",
    labelNames: ["kind", "reason"],
    registers,
    collect() {
      this.reset();
      for (const [kind, status] of statuses(sources())) {
        const stalled = conditionOf(status, "Stalled");
        if (stalled?.status === "True") this.inc({ kind, reason: stalled.reason });
      }
    },
  });
}

function* statuses(sources: MetricSources | undefined): Generator<[kind: string, Status | undefined]> {
  for (const [kind, { store }] of sources?.counted ?? []) {
    for (const { status } of store.list()) yield [kind, status];
  }
}
