import type { Phase } from "./arguments.ts";
import type { Figures } from "./figures.ts";
import { accounts } from "./phases/accounts.ts";
import { big } from "./phases/big.ts";
import { deleteAll, update } from "./phases/change.ts";
import { create } from "./phases/create.ts";
import type { Pace } from "./phases/pace.ts";
import { restart, resync } from "./phases/restart.ts";
import { trickle } from "./phases/trickle.ts";
import { type MeasuredOperator, Stage, type StageSettings } from "./stage.ts";

export interface RunOptions {
  objects: number;
  phases: readonly Phase[];
  /** Latencies of the service in milliseconds. All phases but `big` and `accounts` run at each. */
  latencies: readonly number[];
  repeat: number;
  bigObjects: number;
  /** Numbers of objects in the phase `accounts`. */
  sizes: readonly number[];
  objectsPerAccount: number;
  cluster: StageSettings["cluster"];
  operator: MeasuredOperator;
  /** Goes through the same phases but `big` and `accounts`, after the operator each time. */
  peer?: MeasuredOperator | undefined;
  pace: Pace;
  nodeFlags?: StageSettings["nodeFlags"];
  onFigures?: (figures: Figures) => void;
}

/** Resolves with the figures of each phase of each run. */
export async function runBench(options: RunOptions): Promise<Figures[]> {
  const all: Figures[] = [];
  const note = (figures: Figures) => {
    all.push(figures);
    options.onFigures?.(figures);
  };
  for (let round = 0; round < options.repeat; round++) {
    for (const latencyMs of options.latencies) {
      await throughPhases(options, latencyMs, note, options.operator);
      if (options.peer) await throughPhases(options, latencyMs, (one) => note({ ...one, peer: true }), options.peer);
    }
  }
  if (options.phases.includes("big")) await bigPhase(options, note);
  if (options.phases.includes("accounts")) await accountsPhase(options, note);
  return all;
}

async function throughPhases(
  options: RunOptions,
  latencyMs: number,
  note: (figures: Figures) => void,
  operator: MeasuredOperator,
): Promise<void> {
  const { objects, phases, cluster, pace, nodeFlags } = options;
  const wanted = (phase: Figures["phase"]) => phases.includes(phase);
  if (phases.every((phase) => phase === "big" || phase === "accounts")) return;
  await using stage = await Stage.open({ cluster, operator, latencyMs, nodeFlags });
  const isPeer = operator === options.peer;
  const made = await create(stage, objects, { floor: wanted("create") && !isPeer });
  if (wanted("create")) note(made.figures);
  if (wanted("restart")) note(await restart(stage, objects));
  if (wanted("resync")) note(await resync(stage, objects, pace.resync));
  if (wanted("update")) note(await update(stage, made.subjects));
  const gone = await deleteAll(stage, made.subjects);
  if (wanted("delete")) note(gone);
  if (wanted("trickle")) note(await trickle(stage, pace.trickle, { floor: !isPeer }));
}

/** In the phases `big` and `accounts` the service is always as slow as one in another data centre. */
const BIG_LATENCY_MS = 50;

async function bigPhase(options: RunOptions, note: (figures: Figures) => void): Promise<void> {
  const { bigObjects, cluster, operator, pace, nodeFlags } = options;
  await using stage = await Stage.open({ cluster, operator, latencyMs: BIG_LATENCY_MS, nodeFlags });
  note(await big(stage, bigObjects, pace));
}

async function accountsPhase(options: RunOptions, note: (figures: Figures) => void): Promise<void> {
  const { sizes, objectsPerAccount, cluster, operator, pace, nodeFlags } = options;
  await using stage = await Stage.open({ cluster, operator, latencyMs: BIG_LATENCY_MS, nodeFlags });
  await accounts(stage, { sizes, objectsPerAccount, pace }, note);
}
