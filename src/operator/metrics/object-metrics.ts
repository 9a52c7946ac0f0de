import { Gauge, type Registry } from "prom-client";
import { conditionOf } from "../../objects/object.ts";
import { countObjects } from "./count-objects.ts";
import type { MetricSources } from "./metric-sources.ts";

/** Counts the objects of each kind by what their conditions say. */
export function objectMetrics(registers: Registry[], sources: () => MetricSources | undefined): void {
  new Gauge({
    name: "tunnelgateway_resources",
    help: "Objects by kind, and by status and reason of their Ready condition.",
    labelNames: ["kind", "ready", "reason"],
    registers,
    collect() {
      countObjects(this, sources()?.counted, ["ready", "reason"], (status, add) => {
        const ready = conditionOf(status, "Ready");
        add(ready?.status ?? "Unknown", ready?.reason ?? "Pending");
      });
    },
  });
  new Gauge({
    name: "tunnelgateway_stalled_objects",
    help: "Objects that wait for a person, by kind and by the reason of their Stalled condition.",
    labelNames: ["kind", "reason"],
    registers,
    collect() {
      countObjects(this, sources()?.counted, ["reason"], (status, add) => {
        const stalled = conditionOf(status, "Stalled");
        if (stalled?.status === "True") add(stalled.reason);
      });
    },
  });
}
