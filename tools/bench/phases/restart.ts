import { setTimeout as sleep } from "node:timers/promises";
import type { Operator } from "../../shared/operator.ts";
import type { Figures } from "../figures.ts";
import type { Types } from "../objects.ts";
import { figuresOf, readingOf } from "../reading.ts";
import type { Stage } from "../stage.ts";
import { preciseNow } from "../watcher.ts";

const POLL_MS = 50;

/** An operator, and the kinds of its objects. */
interface Observed {
  operator: Operator;
  types: Types;
}

/** Waits until the operator has made as many reconciles as there are objects. Resolves with the time of that. */
export async function observed({ operator, types }: Observed, count: number, seconds = 120): Promise<number> {
  const controllers = types.map(({ kind }) => kind.toLowerCase());
  const end = preciseNow() + seconds * 1000;
  for (;;) {
    const done = await operator.metric("controller_runtime_reconcile_total", { controller: controllers });
    if (done >= count) return preciseNow();
    if (preciseNow() > end) throw new Error(`After ${seconds} s only ${done} objects have been looked at`);
    await sleep(POLL_MS);
  }
}

/** Measures from the start of the process until each object has been reconciled once. There is nothing to change. */
export async function restart(stage: Stage, count: number): Promise<Figures> {
  await stage.stopOperator();
  const requests = await stage.service.control.count();
  const operator = await stage.startOperator();
  const at = operator.spawnedAt;
  const before = { ...(await readingOf(stage)), at, operatorCPU: 0, requests, writes: 0 };
  const end = await observed(stage, count);
  const after = await readingOf(stage);
  await stage.quiet();
  const quiet = await readingOf(stage);
  return figuresOf(stage, {
    phase: "restart",
    objects: count,
    before,
    after: { ...after, requests: quiet.requests, writes: quiet.writes },
    wallSeconds: (end - at) / 1000,
    more: { observedAfterStarted: (end - operator.startedAt) / 1000 },
  });
}

/** Measures a resync, with nothing to change. */
export async function resync(stage: Stage, count: number, intervalSeconds: number): Promise<Figures> {
  const operator = await stage.startOperator({ RESYNC_INTERVAL: `${intervalSeconds}s` });
  await observed(stage, count);
  const secondsAfterStart = (seconds: number) => sleep(Math.max(operator.startedAt + seconds * 1000 - Date.now(), 0));
  // the resync interval has a jitter of a tenth
  await secondsAfterStart(0.9 * intervalSeconds - 0.5);
  const before = await readingOf(stage);
  await secondsAfterStart(1.1 * intervalSeconds + 2);
  const after = await readingOf(stage);
  const figures = await figuresOf(stage, { phase: "resync", objects: count, before, after });
  await stage.startOperator();
  await observed(stage, count);
  return figures;
}
