import type { Figures } from "../figures.ts";
import { type MeasuredOperator, Stage, type StageSettings } from "../stage.ts";
import { type DriftPace, drift } from "./drift.ts";
import { fill } from "./fill.ts";

export interface ScarceOptions extends Pick<StageSettings, "cluster" | "operator" | "nodeFlags"> {
  objects: number;
  /** How many requests the service answers in a minute. */
  allowed: number;
  /** How long to wait at most until all objects are Ready. */
  seconds: number;
  pace: DriftPace;
  /** Goes through the same phases after the operator. */
  peer?: MeasuredOperator | undefined;
  onFigures?: (figures: Figures) => void;
}

/** The service is as slow as one in another data centre. */
const LATENCY_MS = 50;

/**
 * Measures with a service that allows fewer requests than an operator would like to send. All operators have the limits and
 * intervals with which they are shipped. Resolves with the figures of both phases, of each operator.
 */
export async function runScarce(options: ScarceOptions): Promise<Figures[]> {
  const all: Figures[] = [];
  const note = (figures: Figures) => {
    all.push(figures);
    options.onFigures?.(figures);
  };
  await throughPhases(options, options.operator, note);
  if (options.peer) await throughPhases(options, options.peer, (one) => note({ ...one, peer: true }));
  return all;
}

async function throughPhases(
  { objects, allowed, seconds, pace, cluster, nodeFlags }: ScarceOptions,
  operator: MeasuredOperator,
  note: (figures: Figures) => void,
): Promise<void> {
  const settings = { cluster, operator, nodeFlags, latencyMs: LATENCY_MS, requestsPerMinute: allowed };
  await using stage = await Stage.open({ ...settings, asShipped: true });
  const { ready, figures } = await fill(stage, objects, seconds);
  note(figures);
  if (ready.length > 0) note({ ...(await drift(stage, ready, pace)), objects });
}
