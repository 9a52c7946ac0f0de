import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { ExchangeEvent } from "../gateway/client.ts";
import type { Lane } from "../reconcile/budget.ts";
import { conditionOf } from "../reconcile/object.ts";
import { createDriftMetrics, type DriftMetrics } from "./drift-metrics.ts";
import type { Informers } from "./kube-cluster.ts";

export interface OperatorMetrics extends Pick<DriftMetrics, "onPass"> {
  onExchange: (event: ExchangeEvent) => void;
  onWait: (lane: Lane, seconds: number) => void;
  /** Counts the objects of these informers whenever metrics are collected, so that none outlives its object. */
  observe: (informers: Informers) => void;
}

/** The operator's own metrics, beside those of the runtime. Labels hold names of kinds, never ids. */
export function createOperatorMetrics(registry: Registry): OperatorMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: "tunnelgateway_remote_requests_total",
    help: "Requests to the management API by resource, method and status code, or why there was no status.",
    labelNames: ["resource", "method", "code"],
    registers,
  });
  const seconds = new Histogram({
    name: "tunnelgateway_remote_request_duration_seconds",
    help: "Duration of requests to the management API.",
    labelNames: ["resource", "method"],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const throttled = new Counter({
    name: "tunnelgateway_remote_throttled_seconds_total",
    help: "Time that requests waited for the request budget, by lane.",
    labelNames: ["lane"],
    registers,
  });
  const drift = createDriftMetrics(registry);
  return {
    onPass: drift.onPass,
    onExchange({ resource, method, status, outcome, seconds: took }) {
      requests.inc({ resource, method, code: status ?? outcome });
      seconds.observe({ resource, method }, took);
    },
    onWait: (lane, waited) => throttled.inc({ lane }, waited),
    observe(informers) {
      countObjects(registers, informers);
      drift.observe(informers);
    },
  };
}

function countObjects(registers: Registry[], informers: Informers): void {
  new Gauge({
    name: "tunnelgateway_resources",
    help: "Objects by kind, and by status and reason of their Ready condition.",
    labelNames: ["kind", "ready", "reason"],
    registers,
    collect() {
      this.reset();
      for (const [kind, { store }] of informers) {
        for (const { status } of store.list()) {
          const ready = conditionOf(status, "Ready");
          this.inc({ kind, ready: ready?.status ?? "Unknown", reason: ready?.reason ?? "Pending" });
        }
      }
    },
  });
}
