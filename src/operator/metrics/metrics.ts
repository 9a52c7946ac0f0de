import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { lanes } from "../../account/requests/request-budget.ts";
import type { AccountMetrics } from "../accounts/open-account.ts";
import { certificateMetrics } from "./certificate-metrics.ts";
import { createDriftMetrics, type DriftMetrics } from "./drift-metrics.ts";
import { inventoryMetrics } from "./inventory-metrics.ts";
import type { MetricSources } from "./metric-sources.ts";
import { objectMetrics } from "./object-metrics.ts";
import { createSyncMetrics, type SyncMetrics } from "./sync-metrics.ts";
import { watchMetrics } from "./watch-metrics.ts";

export interface OperatorMetrics extends Pick<DriftMetrics, "onChanges">, SyncMetrics, AccountMetrics {
  setSources: (sources: MetricSources) => void;
}

/** The operator's own metrics; runtime/process/metrics.ts has the others. No label contains a remote's id. */
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
    // Each resource would add eleven series for each method. The counter and traces tell which resource was asked.
    labelNames: ["method"],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
    registers,
  });
  const throttled = new Counter({
    name: "tunnelgateway_remote_throttled_seconds_total",
    help: "Time that requests waited for the request budget, by lane.",
    labelNames: ["lane"],
    registers,
  });
  const turns = new Counter({
    name: "tunnelgateway_request_budget_used_total",
    help: "Requests that the request budget let through, by lane.",
    labelNames: ["lane"],
    registers,
  });
  for (const lane of lanes) for (const counter of [throttled, turns]) counter.inc({ lane }, 0);
  let current: MetricSources | undefined;
  const sources = () => current;
  objectMetrics(registers, sources);
  const syncs = createSyncMetrics(registers);
  const drift = createDriftMetrics(registers);
  certificateMetrics(registers, sources);
  inventoryMetrics(registers, sources);
  watchMetrics(registers, sources);
  return {
    onChanges: drift.onChanges,
    onObject: syncs.onObject,
    onExchange({ resource, method, status, outcome, seconds: took }) {
      requests.inc({ resource, method, code: status ?? outcome });
      seconds.observe({ method }, took);
    },
    onTurn(lane, waited) {
      turns.inc({ lane });
      throttled.inc({ lane }, waited);
    },
    setSources(given) {
      current = given;
    },
  };
}

export interface Constants {
  version: string;
  resyncSeconds: number;
  /** 0 means no limit. */
  requestsPerMinute: number;
}

/** Metrics that never change while the process runs. */
export function setConstants(registry: Registry, constants: Constants): void {
  const registers = [registry];
  new Gauge({
    name: "tunnelgateway_build_info",
    help: "1, with the version of the operator.",
    labelNames: ["version"],
    registers,
  }).set({ version: constants.version }, 1);
  new Gauge({
    name: "tunnelgateway_resync_interval_seconds",
    help: "How often each resource of the account is to be listed.",
    registers,
  }).set(constants.resyncSeconds);
  new Gauge({
    name: "tunnelgateway_request_budget_per_minute",
    help: "How many requests a minute each account may get. 0: no limit.",
    registers,
  }).set(constants.requestsPerMinute);
}
