import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { settle, VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { Controller } from "../controller/controller.ts";
import { createMetrics } from "./metrics.ts";

const names = `
controller_runtime_active_workers controller_runtime_max_concurrent_reconciles controller_runtime_reconcile_errors_total
controller_runtime_reconcile_panics_total controller_runtime_reconcile_time_seconds controller_runtime_reconcile_timeouts_total
controller_runtime_reconcile_total controller_runtime_terminal_reconcile_errors_total leader_election_master_status
rest_client_requests_total workqueue_adds_total workqueue_depth workqueue_longest_running_processor_seconds
workqueue_queue_duration_seconds workqueue_retries_total workqueue_unfinished_work_seconds workqueue_work_duration_seconds`
  .trim()
  .split(/\s+/);

it("registers the names that dashboards of controller-runtime expect", async () => {
  const registry = new Registry();
  createMetrics(registry);
  expect((await registry.getMetricsAsJSON()).map(({ name }) => name).sort()).toEqual(names);
});

it("counts what a controller does", async () => {
  const registry = new Registry();
  const clock = new VirtualClock();
  const metrics = createMetrics(registry);
  const controller = new Controller({
    name: "thing",
    reconcile: async ({ name }) => {
      if (name === "slow") await new Promise<void>((resolve) => clock.setTimeout(resolve, 4_000));
      if (name === "broken") throw new TypeError("broken");
      return name === "later" ? { requeueAfterSeconds: 60 } : {};
    },
    concurrency: 4,
    log: recordingLogger(),
    metrics,
    clock,
    random: () => 0.999,
    backoff: { base: 100, cap: 100 },
  });
  const stop = new AbortController();
  for (const name of ["fine", "later", "broken", "slow"]) controller.enqueue(`ns/${name}`);
  const idle = 'workqueue_depth{name="thing",controller="thing",priority="0"} 0';
  const waiting = (await registry.metrics()).split("\n");
  expect(waiting, "a controller that waits to be started").toContain(idle);
  expect(waiting, "nothing was tried again").toContain('workqueue_retries_total{name="thing",controller="thing"} 0');
  controller.start(stop.signal);
  await clock.advance(3_000);
  const text = await registry.metrics();
  const lines = [
    'controller_runtime_reconcile_total{controller="thing",result="success"} 1',
    'controller_runtime_reconcile_total{controller="thing",result="requeue_after"} 1',
    'controller_runtime_reconcile_total{controller="thing",result="error"} 1',
    'controller_runtime_reconcile_errors_total{controller="thing"} 1',
    'controller_runtime_reconcile_panics_total{controller="thing"} 1',
    'controller_runtime_active_workers{controller="thing"} 1',
    'controller_runtime_max_concurrent_reconciles{controller="thing"} 4',
    'workqueue_depth{name="thing",controller="thing",priority="0"} 0',
    'workqueue_retries_total{name="thing",controller="thing"} 1',
    'workqueue_unfinished_work_seconds{name="thing",controller="thing"} 3',
  ];
  expect(text.split("\n")).toEqual(expect.arrayContaining(lines));
  stop.abort();
  await clock.advance(2_000);
  await controller.drain();
  await settle();
  expect(clock.pending).toBe(0);
});
