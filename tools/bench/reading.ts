import type { Phase } from "./arguments.ts";
import { type Figures, percentile } from "./figures.ts";
import { cpuSeconds, memoryOf } from "./processes.ts";
import type { Stage } from "./stage.ts";
import { preciseNow } from "./watcher.ts";

/** All counters at one moment. */
export interface Reading {
  at: number;
  operatorCPU: number | undefined;
  apiServerCPU: number | undefined;
  requests: number;
  writes: number;
  reads: number;
}

export async function readingOf({ operator, apiServer, service }: Stage): Promise<Reading> {
  // CPU first: the other readings cost CPU time
  const at = preciseNow();
  const [operatorCPU, apiServerCPU] = await Promise.all([cpuSeconds(operator.pid), cpuSeconds(apiServer)]);
  const [requests, cluster] = await Promise.all([service.control.count(), operator.clusterRequests()]);
  return { at, operatorCPU, apiServerCPU, requests, ...cluster };
}

export interface Interval {
  phase: Phase;
  objects: number;
  before: Reading;
  after: Reading;
  /** Default: the time between the two readings. */
  wallSeconds?: number;
  /** The milliseconds that each object took. */
  took?: readonly number[];
  more?: Record<string, number | undefined>;
}

export async function figuresOf(stage: Stage, given: Interval): Promise<Figures> {
  const { phase, objects, before, after, took, more } = given;
  const { peak } = await memoryOf(stage.operator.pid);
  const figures: { [Name in keyof Figures]: Figures[Name] | undefined } = {
    phase,
    objects,
    latencyMs: stage.settings.latencyMs,
    wallSeconds: given.wallSeconds ?? (after.at - before.at) / 1000,
    operatorCPU: difference(before.operatorCPU, after.operatorCPU),
    apiServerCPU: difference(before.apiServerCPU, after.apiServerCPU),
    peakRSS: peak,
    requests: (after.requests - before.requests) / objects,
    writes: (after.writes - before.writes) / objects,
    // requests for /metrics are not counted
    reads: (after.reads - before.reads) / objects,
    p50: took && percentile(took, 0.5),
    p99: took && percentile(took, 0.99),
    more: more && (defined(more) as Record<string, number>),
  };
  return defined(figures) as Figures;
}

const difference = (before: number | undefined, after: number | undefined): number | undefined =>
  before === undefined || after === undefined ? undefined : after - before;

const defined = (values: object): object =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
