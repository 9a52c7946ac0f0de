import { Gauge, type Registry } from "prom-client";
import { conditionOf, type ManagedObject, type Status } from "../../objects/object.ts";
import type { MetricSources } from "./metric-sources.ts";

/** A gauge that counts objects by `kind` and one or two labels more. */
interface Counted {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly [string, string?];
  /** Calls `add` with the values of the labels, once for each series in which the object counts. */
  readonly count: (status: Status | undefined, add: Add) => void;
}

type Add = (one: string, other?: string) => void;

const gauges: readonly Counted[] = [
  {
    name: "tunnelgateway_resources",
    help: "Objects by kind, and by status and reason of their Ready condition.",
    labels: ["ready", "reason"],
    count(status, add) {
      const ready = conditionOf(status, "Ready");
      add(ready?.status ?? "Unknown", ready?.reason ?? "Pending");
    },
  },
  {
    name: "tunnelgateway_stalled_objects",
    help: "Objects that wait for a person, by kind and by the reason of their Stalled condition.",
    labels: ["reason"],
    count(status, add) {
      const stalled = conditionOf(status, "Stalled");
      if (stalled?.status === "True") add(stalled.reason);
    },
  },
  {
    name: "tunnelgateway_drifted_objects",
    help: "Objects that differ from the account and are left so, by the spec field that differs and why it is left.",
    labels: ["reason", "field"],
    count(status, add) {
      const drifted = conditionOf(status, "Drifted");
      if (drifted?.status === "True") for (const field of status?.drift ?? []) add(drifted.reason, field);
    },
  },
];

/**
 * Counts the objects of each kind by what their statuses say. All objects are looked at once in a scrape, and counted
 * before prom-client is told, which makes a text of all labels at each call.
 */
export function objectMetrics(registers: Registry[], sources: () => Pick<MetricSources, "counted"> | undefined): void {
  const all = gauges.map(({ name, help, labels, count }, index) => {
    const labelNames = ["kind", ...labels.filter((label) => label !== undefined)];
    const gauge = new Gauge({ name, help, labelNames, registers, ...(index === 0 && { collect }) });
    return { gauge, labels, count };
  });
  // prom-client calls it for the first gauge; it sets all of them
  function collect(): void {
    for (const { gauge } of all) gauge.reset();
    for (const [kind, { store }] of sources()?.counted ?? []) {
      const tallies = all.map((one) => ({ ...one, tally: new Tally() }));
      countAll(store.list(), tallies);
      for (const { gauge, labels, tally } of tallies) tally.show(gauge, kind, labels);
    }
  }
}

function countAll(
  objects: readonly ManagedObject[],
  tallies: readonly { count: Counted["count"]; tally: Tally }[],
): void {
  for (const { status } of objects) for (const { count, tally } of tallies) count(status, tally.add);
}

/** Counts pairs of texts. */
class Tally {
  readonly #numbers = new Map<string, Map<string, number>>();

  readonly add: Add = (one, other = "") => {
    const inner = this.#numbers.get(one) ?? new Map<string, number>();
    if (inner.size === 0) this.#numbers.set(one, inner);
    inner.set(other, (inner.get(other) ?? 0) + 1);
  };

  show(gauge: Gauge, kind: string, [first, second]: Counted["labels"]): void {
    for (const [one, inner] of this.#numbers) {
      for (const [other, number] of inner)
        gauge.set({ kind, [first]: one, ...(second && { [second]: other }) }, number);
    }
  }
}
