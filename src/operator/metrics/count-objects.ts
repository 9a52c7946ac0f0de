import type { Gauge } from "prom-client";
import type { Status } from "../../objects/object.ts";
import type { MetricSources } from "./metric-sources.ts";

/**
 * Sets a gauge to the number of objects for each set of labels. `count` is called for each status, and calls `add` with
 * the values of up to two labels beside `kind`.
 *
 * The objects are counted first, since prom-client makes a text of all labels at each call.
 */
export function countObjects<Label extends string>(
  gauge: Gauge<Label | "kind">,
  counted: MetricSources["counted"] | undefined,
  [first, second]: readonly [Label, Label?],
  count: (status: Status | undefined, add: (one: string, other?: string) => void) => void,
): void {
  gauge.reset();
  for (const [kind, { store }] of counted ?? []) {
    const counts = new Map<string, Map<string, number>>();
    const add = (one: string, other = "") => {
      const inner = counts.get(one) ?? new Map<string, number>();
      if (inner.size === 0) counts.set(one, inner);
      inner.set(other, (inner.get(other) ?? 0) + 1);
    };
    for (const { status } of store.list()) count(status, add);
    for (const [one, inner] of counts) {
      for (const [other, number] of inner) {
        const labels = { kind, [first]: one, ...(second && { [second]: other }) };
        gauge.set(labels as Record<Label | "kind", string>, number);
      }
    }
  }
}
