import { Counter, type Registry } from "prom-client";
import type { Change } from "../../reconcile/context.ts";

/** The label `field` of a remote that was gone and was created again. */
const REMOTE_FIELD = "id";

/** Counts what other clients changed in the account. Labels contain names of spec fields, never values. */
export interface DriftMetrics {
  /** Call it with the changes of each reconcile. */
  onChanges: (kind: string, changes: readonly Change[]) => void;
}

export function createDriftMetrics(registers: Registry[]): DriftMetrics {
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
