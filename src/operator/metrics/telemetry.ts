import { Registry } from "prom-client";
import { collectProcessMetrics, createMetrics, type Metrics } from "../../runtime/process/metrics.ts";
import { createSessionMetrics, type SessionMetrics } from "../../sessions/metrics.ts";
import { createOperatorMetrics, type OperatorMetrics, publishFacts } from "./metrics.ts";

/** Everything that a process of the operator exposes. */
export interface Telemetry {
  registry: Registry;
  runtime: Metrics;
  operator: OperatorMetrics;
  sessions: SessionMetrics;
}

export function createTelemetry(facts: Parameters<typeof publishFacts>[1]): Telemetry {
  const registry = new Registry();
  collectProcessMetrics(registry);
  publishFacts(registry, facts);
  return {
    registry,
    runtime: createMetrics(registry),
    operator: createOperatorMetrics(registry),
    sessions: createSessionMetrics(registry),
  };
}
