import type { Phase } from "./arguments.ts";
import { type Figures, peerOf } from "./figures.ts";

export interface Target {
  phase: Phase;
  text: string;
  /** The figure that is compared. Undefined if it was not measured. `peer`: what was measured on the peer. */
  of: (figures: Figures, peer: Figures | undefined) => number | undefined;
  atMost: number;
  /** Default: every latency. */
  latencyMs?: number;
}

const ratio = (part: number | undefined, whole: number | undefined): number | undefined =>
  part === undefined || !whole ? undefined : part / whole;

const requests = (phase: Phase, atMost: number): Target => ({
  phase,
  atMost,
  text: "requests to the service per object",
  of: ({ requests: value }) => value,
});

const writes = (phase: Phase, atMost: number): Target => ({
  phase,
  atMost,
  text: "Kubernetes writes per object",
  of: ({ writes: value }) => value,
});

const more = (phase: Phase, name: string, text: string, atMost: number): Target => ({
  phase,
  text,
  atMost,
  of: (figures) => figures.more?.[name],
});

/** Compared with the peer. */
const toPeer = (
  phase: Phase,
  name: "wallSeconds" | "apiServerCPU" | "p50",
  text: string,
  atMost: number,
  latencyMs?: number,
): Target => ({
  phase,
  text: `${text}, as a multiple of the peer's`,
  atMost,
  ...(latencyMs !== undefined && { latencyMs }),
  of: (figures, peer) => ratio(figures[name], peer?.[name]),
});

/** What is aimed at, on an idle machine with 2 cores. */
export const targets: readonly Target[] = [
  requests("create", 1.01),
  writes("create", 2),
  more("create", "floorRatio", "wall time, as a multiple of the plain client's", 1.25),
  {
    phase: "create",
    text: "CPU time of the operator, as a share of the API server's",
    atMost: 0.4,
    of: ({ operatorCPU, apiServerCPU }) => ratio(operatorCPU, apiServerCPU),
  },
  { phase: "create", text: "MiB of memory at the most", atMost: 128, of: ({ peakRSS }) => peakRSS },
  requests("restart", 0.02),
  writes("restart", 0),
  { phase: "restart", text: "seconds until all are observed", atMost: 3, of: ({ wallSeconds }) => wallSeconds },
  requests("resync", 0.02),
  writes("resync", 0),
  { phase: "resync", text: "CPU seconds", atMost: 0.3, of: ({ operatorCPU }) => operatorCPU },
  requests("update", 1),
  writes("update", 1),
  requests("delete", 1.01),
  writes("delete", 1),
  { phase: "trickle", text: "ms to Ready, p50", atMost: 12, latencyMs: 0, of: ({ p50 }) => p50 },
  { phase: "trickle", text: "ms to Ready, p99", atMost: 48, latencyMs: 0, of: ({ p99 }) => p99 },
  { phase: "trickle", text: "ms to Ready, p50", atMost: 65, latencyMs: 50, of: ({ p50 }) => p50 },
  { phase: "trickle", text: "ms to Ready, p99", atMost: 260, latencyMs: 50, of: ({ p99 }) => p99 },
  { phase: "big", text: "MiB of memory at the most", atMost: 200, of: ({ peakRSS }) => peakRSS },
  more("big", "idlePercent", "percent of a core at rest", 1),
  {
    phase: "big",
    text: "requests of a full list per 100 objects",
    atMost: 1,
    of: ({ more: found, objects }) => ratio(found?.["resyncRequests"], objects / 100),
  },
  more("big", "editP99", "ms until an edit during a list is at the service, p99", 1000),
  more("big", "limitedEditMax", "the same at 100 requests a minute, at the most", 2000),
  more("accounts", "idlePercent", "percent of a core at rest", 5),
  more("accounts", "editP99", "ms until an edit in a quiet account is at the service, p99", 1000),
  toPeer("create", "wallSeconds", "wall time", 1.1, 0),
  toPeer("create", "wallSeconds", "wall time", 0.9, 50),
  toPeer("create", "apiServerCPU", "CPU time of the API server", 1.15),
  toPeer("trickle", "p50", "ms to Ready, p50", 1.15),
];

export interface Verdict {
  target: Target;
  latencyMs: number;
  value: number;
  kept: boolean;
}

/** Rounded as in the table, so that two lists for thousands of creates count as none per object. */
const rounded = (value: number): number => Math.round(value * 100) / 100;

/** Compares what was measured with the targets. Figures that are missing are left out. */
export function verdicts(measured: readonly Figures[]): Verdict[] {
  const ours = measured.filter(({ peer }) => !peer);
  return ours.flatMap((figures) =>
    targets.flatMap((target) => {
      const { phase, latencyMs = figures.latencyMs, atMost, of } = target;
      const value = of(figures, peerOf(measured, figures));
      if (phase !== figures.phase || latencyMs !== figures.latencyMs || value === undefined) return [];
      return [{ target, latencyMs, value, kept: rounded(value) <= atMost }];
    }),
  );
}
