import { type Histogram, monitorEventLoopDelay } from "node:perf_hooks";
import { Gauge, type Registry } from "prom-client";

// Each look at the clock wakes the process. A hundred a second would take more CPU than all else at rest.
const CHECK_MS = 200;
const METRICS_MS = 100;

/**
 * A check that fails when the event loop was late by more than the limit for most of the time since the last check.
 * A single long stall is no failure, since a restart would not undo it.
 */
export function eventLoopCheck({ limitSeconds = 1, everyMs = CHECK_MS } = {}): (() => string | undefined) & Disposable {
  const times = monitorEventLoopDelay({ resolution: everyMs });
  times.enable();
  const check = () => {
    const seconds = lagOf("p50", times, everyMs);
    times.reset();
    return seconds > limitSeconds ? `the event loop is late by ${seconds.toFixed(1)} s` : undefined;
  };
  return Object.assign(check, { [Symbol.dispose]: () => void times.disable() });
}

type Times = Pick<Histogram, "count" | "min" | "max" | "mean" | "stddev" | "percentile">;

/** In nanoseconds, as node measures them: with the time between two looks. */
const statistics = {
  min: ({ min }: Times) => min,
  max: ({ max }: Times) => max,
  mean: ({ mean }: Times) => mean,
  stddev: ({ stddev }: Times) => stddev,
  p50: (times: Times) => times.percentile(50),
  p90: (times: Times) => times.percentile(90),
  p99: (times: Times) => times.percentile(99),
};
type Statistic = keyof typeof statistics;
const names = Object.keys(statistics) as Statistic[];

/** How late the event loop was, in seconds. `times`: those from one look to the next, which should be `everyMs` apart. */
export function lagOf(name: Statistic, times: Times, everyMs: number): number {
  if (times.count === 0) return 0;
  const usual = name === "stddev" ? 0 : everyMs / 1e3;
  return Math.max(0, statistics[name](times) / 1e9 - usual);
}

/**
 * Puts metrics in the place of those of prom-client that have the same names. They look ten times less often, and the
 * time between two looks is no lag.
 */
export function replaceLagMetrics(registry: Registry): void {
  const times = monitorEventLoopDelay({ resolution: METRICS_MS });
  times.enable();
  const gauges = names.map((name) => {
    const metric = `nodejs_eventloop_lag_${name}_seconds`;
    registry.removeSingleMetric(metric);
    const help = `Lag of the event loop since the last scrape: ${name}.`;
    return new Gauge({ name: metric, help, registers: [registry], ...(name === names[0] && { collect }) });
  });
  // prom-client calls it for the first gauge; it sets all of them
  function collect(): void {
    for (const [index, name] of names.entries()) gauges[index]?.set(lagOf(name, times, METRICS_MS));
    times.reset();
  }
}
