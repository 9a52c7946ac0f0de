import { createHistogram } from "node:perf_hooks";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { lagOf, replaceLagMetrics } from "./event-loop.ts";
import { collectProcessMetrics } from "./metrics.ts";

it("does not count the time between two looks as a lag", () => {
  const times = createHistogram();
  for (const milliseconds of [100, 100, 100, 1_100]) times.record(milliseconds * 1e6);
  expect(lagOf("min", times, 100)).toBeCloseTo(0, 2);
  expect(lagOf("p50", times, 100)).toBeCloseTo(0, 2);
  expect(lagOf("mean", times, 100)).toBeCloseTo(0.25, 2);
  expect(lagOf("p99", times, 100)).toBeCloseTo(1, 2);
  expect(lagOf("max", times, 100)).toBeCloseTo(1, 2);
  expect(lagOf("stddev", times, 100)).toBeCloseTo(0.43, 2);
});

it("knows no lag while there was no look", () => {
  expect(lagOf("mean", createHistogram(), 100)).toBe(0);
  expect(lagOf("min", createHistogram(), 100)).toBe(0);
});

it("replaces the metrics of prom-client by those with the same names", async () => {
  const registry = new Registry();
  collectProcessMetrics(registry);
  const found = (await registry.getMetricsAsJSON()).map(({ name }) => name);
  const suffixes = ["", "_min", "_max", "_mean", "_stddev", "_p50", "_p90", "_p99"];
  const min = (await registry.getSingleMetric("nodejs_eventloop_lag_min_seconds")?.get())?.values[0]?.value;
  expect(min, "prom-client has none, since it never looks").toBeLessThan(100);
  expect(found.filter((name) => name.startsWith("nodejs_eventloop_lag")).sort()).toEqual(
    suffixes.map((suffix) => `nodejs_eventloop_lag${suffix}_seconds`).sort(),
  );
});

it("measures a stall once", async () => {
  const registry = new Registry();
  replaceLagMetrics(registry);
  const max = async () => (await registry.getSingleMetric("nodejs_eventloop_lag_max_seconds")?.get())?.values[0]?.value;
  const scrape = () => registry.metrics();
  // the first look after a scrape only sets the start
  await new Promise((resolve) => setTimeout(resolve, 250));
  const end = performance.now() + 600;
  while (performance.now() < end);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await scrape();
  expect(await max()).toBeGreaterThan(0.4);
  await scrape();
  expect(await max()).toBe(0);
});
