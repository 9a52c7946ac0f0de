import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from "prom-client";
import type { TransportOptions } from "../connection/transport.ts";
import type { ControllerObserver, ControllerState, Outcome } from "../controller/controller.ts";
import { replaceLagMetrics } from "./event-loop.ts";

export interface Metrics {
  /** Adds the series of one controller and its queue. */
  controller(name: string, state: ControllerState): ControllerObserver;
  /** An option of Transport. */
  onAnswer: NonNullable<TransportOptions["onAnswer"]>;
  /** Sets whether this process leads. */
  leading(name: string, leading: boolean): void;
}

// Some of the buckets of controller-runtime, so that its dashboards and alerts fit. All of them would be 1,700 series,
// since each of two dozen controllers has its own.
const reconcileSeconds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const queueSeconds = [0.001, 0.01, 0.1, 1, 10, 100, 1000];

const outcomes: readonly Outcome[] = ["success", "error", "requeue", "requeue_after"];

/** Metrics with the names and labels of controller-runtime. Call it once for each registry. */
export function createMetrics(registry: Registry): Metrics {
  const registers = [registry];
  const states = new Map<string, ControllerState>();
  const reconcile = reconcileMetrics(registers);
  const queue = queueMetrics(registers, states);
  const requests = new Counter({
    name: "rest_client_requests_total",
    help: "Number of HTTP requests, partitioned by status code, method, and host.",
    labelNames: ["code", "method", "host"],
    registers,
  });
  const leader = new Gauge({
    name: "leader_election_master_status",
    help: "1 while this process is the leader, else 0.",
    labelNames: ["name"],
    registers,
  });
  return {
    onAnswer: (answer) => requests.inc(answer),
    leading: (name, leading) => leader.set({ name }, leading ? 1 : 0),
    controller(name, state) {
      states.set(name, state);
      return { ...reconcile(name, state), ...queue(name) };
    },
  };
}

/** Sums of other gauges. Their names end like those of counters, which `promtool check metrics` objects to. */
const misnamed = ["resources", "handles", "requests"].map((name) => `nodejs_active_${name}_total`);

/** prom-client cannot be told to leave its monitor of the event loop out. So it first looks after 24 days. */
const NEVER_MS = 2 ** 31 - 1;

/** They measure the process, whose event loop and garbage collection would be watched anew for each registry. */
let ofProcess: Registry | undefined;

function processMetrics(): Registry {
  if (ofProcess) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess, eventLoopMonitoringPrecision: NEVER_MS });
  replaceLagMetrics(ofProcess);
  for (const name of misnamed) ofProcess.removeSingleMetric(name);
  return ofProcess;
}

/** CPU, memory, garbage collection, event loop lag. */
export function collectProcessMetrics(registry: Registry): void {
  const metrics = processMetrics();
  for (const { name } of metrics.getMetricsAsArray()) registry.registerMetric(metrics.getSingleMetric(name) as Metric);
}

type Registers = Registry[];
type ReconcileObserver = Pick<ControllerObserver, "started" | "finished" | "failed">;
type QueueObserver = Omit<ControllerObserver, keyof ReconcileObserver>;

function reconcileMetrics(registers: Registers): (name: string, state: ControllerState) => ReconcileObserver {
  const counter = (name: string, help: string, ...labels: string[]) =>
    new Counter({ name: `controller_runtime_${name}`, help, labelNames: ["controller", ...labels], registers });
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `controller_runtime_${name}`, help, labelNames: ["controller"], registers });

  const total = counter("reconcile_total", "Total number of reconciliations per controller.", "result");
  const errors = counter("reconcile_errors_total", "Total number of reconciliation errors per controller.");
  const failures = {
    terminal: counter(
      "terminal_reconcile_errors_total",
      "Total number of terminal reconciliation errors per controller.",
    ),
    panic: counter("reconcile_panics_total", "Total number of reconciliation panics per controller."),
    timeout: counter("reconcile_timeouts_total", "Total number of reconciliation timeouts per controller."),
  };
  const seconds = new Histogram({
    name: "controller_runtime_reconcile_time_seconds",
    help: "Length of time per reconciliation per controller.",
    labelNames: ["controller"],
    buckets: reconcileSeconds,
    registers,
  });
  const concurrency = gauge("max_concurrent_reconciles", "Maximum number of concurrent reconciles per controller.");
  const active = gauge("active_workers", "Number of currently used workers per controller.");

  return (controller, state) => {
    // alerts on increases need series that exist before the first increase
    for (const result of outcomes) total.inc({ controller, result }, 0);
    for (const failure of [errors, ...Object.values(failures)]) failure.inc({ controller }, 0);
    concurrency.set({ controller }, state.concurrency);
    active.set({ controller }, 0);
    return {
      started: () => active.inc({ controller }),
      failed: (how) => failures[how].inc({ controller }),
      finished(result, took) {
        active.dec({ controller });
        total.inc({ controller, result });
        if (result === "error") errors.inc({ controller });
        seconds.observe({ controller }, took);
      },
    };
  };
}

function queueMetrics(
  registers: Registers,
  states: ReadonlyMap<string, ControllerState>,
): (name: string) => QueueObserver {
  const labelNames = ["name", "controller"];
  const labels = (name: string) => ({ name, controller: name });
  const counter = (name: string, help: string) =>
    new Counter({ name: `workqueue_${name}`, help, labelNames, registers });
  const histogram = (name: string, help: string) =>
    new Histogram({ name: `workqueue_${name}`, help, labelNames, buckets: queueSeconds, registers });

  new Gauge({
    name: "workqueue_depth",
    help: "Current depth of workqueue by workqueue and priority.",
    labelNames: [...labelNames, "priority"],
    registers,
    collect() {
      this.reset();
      for (const [name, state] of states) {
        this.set({ ...labels(name), priority: "0" }, 0);
        for (const [priority, depth] of state.depth()) this.set({ ...labels(name), priority: String(priority) }, depth);
      }
    },
  });
  const running = (name: string, help: string, value: (seconds: number[]) => number) =>
    new Gauge({
      name: `workqueue_${name}`,
      help,
      labelNames,
      registers,
      collect() {
        for (const [controller, state] of states) this.set(labels(controller), value(state.runningSeconds()));
      },
    });
  running(
    "unfinished_work_seconds",
    "Seconds of work that is in progress and hasn't been observed by work_duration.",
    (all) => all.reduce((sum, seconds) => sum + seconds, 0),
  );
  running("longest_running_processor_seconds", "Seconds that the longest running processor has been running.", (all) =>
    Math.max(0, ...all),
  );
  const adds = counter("adds_total", "Total number of adds handled by workqueue.");
  const retries = counter("retries_total", "Total number of retries handled by workqueue.");
  const waited = histogram("queue_duration_seconds", "Seconds an item stays in workqueue before being requested.");
  const worked = histogram("work_duration_seconds", "Seconds processing an item from workqueue takes.");

  return (name) => {
    for (const total of [adds, retries]) total.inc(labels(name), 0);
    return {
      added: () => adds.inc(labels(name)),
      retried: () => retries.inc(labels(name)),
      waited: (seconds) => waited.observe(labels(name), seconds),
      worked: (seconds) => worked.observe(labels(name), seconds),
    };
  };
}
