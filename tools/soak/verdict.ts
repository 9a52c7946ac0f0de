import type { Quantity, Sample } from "./sample.ts";

/** What was measured at rest. */
export interface Rest {
  seconds: number;
  /** Writes to Kubernetes. */
  writes: number;
  /** Requests to the service other than lists. */
  others: number;
  /** Objects that are not Ready and Synced, and remotes that differ from their objects or have none. */
  differing: number;
}

export interface Verdict {
  text: string;
  found: number;
  atMost: number;
  kept: boolean;
}

/** How much the last quarter may exceed the second. The first quarter is for warming up. */
const GROWTH = 1.1;

/**
 * How much a quantity varies by chance. It depends on how many requests are under way at the time of a sample, and on
 * how many were shortly before, since connections are kept alive for a while.
 */
const chance: Partial<Record<Quantity, number>> = { sockets: 32, timers: 16, resources: 24 };

/** Without the parts of the heap: their size depends on when garbage is collected, and RSS contains them all. */
const grownQuantities: readonly Quantity[] = ["rss", "sockets", "timers", "resources"];

export function verdicts(samples: readonly Sample[], rest: Rest): Verdict[] {
  const grown = grownQuantities.flatMap((quantity) => {
    const [before, after] = [medianOfQuarter(samples, 2, quantity), medianOfQuarter(samples, 4, quantity)];
    if (before === undefined || after === undefined) return [];
    return [verdict(`${quantity}, median of the last quarter`, after, before * GROWTH + (chance[quantity] ?? 0))];
  });
  return [
    ...grown,
    verdict("Kubernetes writes at rest", rest.writes, 0),
    verdict("requests at rest that are no page of a list", rest.others, 0),
    verdict("objects and remotes that are not as they should be", rest.differing, 0),
  ];
}

const verdict = (text: string, found: number, atMost: number): Verdict => ({
  text,
  found,
  atMost,
  kept: found <= atMost,
});

/** The median of a quantity in a quarter of the time, counted from 1; undefined if it was not measured. */
export function medianOfQuarter(samples: readonly Sample[], which: number, quantity: Quantity): number | undefined {
  const end = Math.max(...samples.map(({ at }) => at));
  const inside = samples.filter(({ at }) => at > (end * (which - 1)) / 4 && at <= (end * which) / 4);
  const values = inside.flatMap((sample) => sample[quantity] ?? []).sort((one, other) => one - other);
  return values[Math.floor(values.length / 2)];
}
