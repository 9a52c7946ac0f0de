import type { Phase } from "./arguments.ts";

/** The figures of one phase. A figure that this machine cannot provide is left out. */
export interface Figures {
  phase: Phase;
  /** The latency of the service. */
  latencyMs: number;
  objects: number;
  /** Set for figures of the peer, the operator of the comparison. */
  peer?: true;
  wallSeconds?: number;
  operatorCPU?: number;
  apiServerCPU?: number;
  /** The maximum in MiB since the operator started. */
  peakRSS?: number;
  /** Requests to the service, per object. Writes and reads are those of Kubernetes. */
  requests?: number;
  writes?: number;
  reads?: number;
  /** The median time in milliseconds until an object was done. */
  p50?: number;
  p99?: number;
  /** Figures that only this phase has. */
  more?: Record<string, number>;
}

export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

const median = (values: readonly number[]): number | undefined => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
};

/** The same phase of another run. */
export const isSameRun = (one: Figures, other: Figures): boolean =>
  one.phase === other.phase &&
  one.latencyMs === other.latencyMs &&
  one.objects === other.objects &&
  one.peer === other.peer;

/** The figures of the peer in the same phase. */
export const peerOf = (measured: readonly Figures[], figures: Figures): Figures | undefined =>
  figures.peer ? undefined : measured.find((other) => isSameRun(other, { ...figures, peer: true }));

/** The medians of all runs, for each phase and latency. */
export function medians(runs: readonly Figures[]): Figures[] {
  const groups = Map.groupBy(runs, ({ phase, latencyMs, objects, peer }) => `${phase} ${latencyMs} ${objects} ${peer}`);
  return [...groups.values()].map((group) => {
    const [{ phase, latencyMs, objects, peer }] = group as [Figures, ...Figures[]];
    return { phase, latencyMs, objects, ...(peer && { peer }), ...medianOf(group), ...medianMore(group) };
  });
}

const names = [
  "wallSeconds",
  "operatorCPU",
  "apiServerCPU",
  "peakRSS",
  "requests",
  "writes",
  "reads",
  "p50",
  "p99",
] as const;

function medianOf(group: readonly Figures[]): Partial<Figures> {
  const entries = names.map((name) => [name, median(group.flatMap((run) => run[name] ?? []))]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function medianMore(group: readonly Figures[]): Pick<Figures, "more"> {
  const keys = [...new Set(group.flatMap(({ more = {} }) => Object.keys(more)))];
  if (keys.length === 0) return {};
  const entries = keys.map((key) => [key, median(group.flatMap(({ more }) => more?.[key] ?? []))]);
  return { more: Object.fromEntries(entries) };
}
