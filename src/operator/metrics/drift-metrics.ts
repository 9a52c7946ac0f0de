import { Counter, Gauge, type Registry } from "prom-client";
import { conditionOf } from "../../objects/object.ts";
import type { Change } from "../../reconcile/context.ts";
import { countObjects } from "./count-objects.ts";
import type { MetricSources } from "./metric-sources.ts";

/** The label `field` of a remote that was gone and was created again. */
const REMOTE_FIELD = "id";

/** Counts what other clients changed in the account. Labels contain names of spec fields, never values. */
export interface DriftMetrics {
  /** Call it with the changes of each reconcile. */
  onChanges: (kind: string, changes: readonly Change[]) => void;
}

export function createDriftMetrics(
  registers: Registry[],
  sources: () => Pick<MetricSources, "counted"> | undefined,
): DriftMetrics {
  countDrifted(registers, sources);
  const corrections = new Counter({
    name: "tunnelgateway_drift_corrections_total",
    help: "Spec fields that somebody else had changed in the account and that were put right; id: the remote was gone and was made again.",
    labelNames: ["kind", "field"],
    registers,
  });
  return {
    onChanges(kind, changes) {
      const fields = changes.flatMap((change) => (change.type === "Updated" && change.drifted ? change.fields : []));
      for (const field of fields) corrections.inc({ kind, field });
      const [missing, created] = ["Missing", "Created"].map((type) => changes.some((change) => change.type === type));
      if (missing && created) corrections.inc({ kind, field: REMOTE_FIELD });
    },
  };
}

function countDrifted(registers: Registry[], sources: () => Pick<MetricSources, "counted"> | undefined): void {
  new Gauge({
    name: "tunnelgateway_drifted_objects",
    help: "Objects that differ from the account and are left so, by the spec field that differs and why it is left.",
    labelNames: ["kind", "reason", "field"],
    registers,
    collect() {
      countObjects(this, sources()?.counted, ["reason", "field"], (status, add) => {
        const drifted = conditionOf(status, "Drifted");
        if (drifted?.status === "True") for (const field of status?.drift ?? []) add(drifted.reason, field);
      });
    },
  });
}
