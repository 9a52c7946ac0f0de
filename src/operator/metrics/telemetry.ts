import { Registry } from "prom-client";
import { collectProcessMetrics, createMetrics, type Metrics } from "../../runtime/process/metrics.ts";
import { createSessionMetrics, type SessionMetrics } from "../../sessions/metrics.ts";
import { createOperatorMetrics, type OperatorMetrics, setConstants } from "./metrics.ts";

/** All metrics of a process, in one registry. */
export interface Telemetry {
  registry: Registry;
  runtime: Metrics;
  operator: OperatorMetrics;
  sessions: SessionMetrics;
}

export function createTelemetry(constants: Parameters<typeof setConstants>[1]): Telemetry {
  const registry = new Registry();
  collectProcessMetrics(registry);
  setConstants(registry, constants);
  return {
    registry,
    runtime: createMetrics(registry),
    operator: createOperatorMetrics(registry),
    sessions: createSessionMetrics(registry),
  };
}
