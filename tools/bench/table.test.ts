import { expect, it } from "vitest";
import type { Figures } from "./figures.ts";
import { ratioBars, ratioTable, table, verdictTable } from "./table.ts";

const figures: Figures = { phase: "create", latencyMs: 0, objects: 2000, wallSeconds: 4.256, requests: 1 };

it("has a line for each phase, and nothing where nothing was measured", () => {
  const [headings, line] = table([figures]).split("\n");
  expect(headings).toContain("wall s");
  expect(line?.split(/\s+/)).toEqual(["create", "0", "2000", "4.26", "1.00"]);
});

it("puts the figures of a like run of the baseline beside its own", () => {
  const baseline = [
    { ...figures, wallSeconds: 5 },
    { ...figures, latencyMs: 50, wallSeconds: 6 },
  ];
  expect(table([figures], baseline)).toContain("4.26 (5.00)");
});

it("shows each figure as a multiple of that of the peer, where both were measured", () => {
  const peer: Figures = { phase: "create", latencyMs: 0, objects: 2000, peer: true, wallSeconds: 4, p50: 3 };
  const [, line, ...others] = ratioTable([{ ...figures, wallSeconds: 6 }, peer, { ...figures, latencyMs: 50 }]).split(
    "\n",
  );
  expect(line?.split(/\s+/)).toEqual(["create", "0", "2000", "1.50"]);
  expect(others).toEqual([]);
  expect(ratioTable([figures])).toBe("");
});

it("draws each figure as a bar beside that of the peer", () => {
  const peer: Figures = { ...figures, peer: true, wallSeconds: 4, operatorCPU: 0.1, p50: 1, peakRSS: 50, requests: 1 };
  const ours: Figures = { ...figures, wallSeconds: 6, operatorCPU: 1, p50: 9, peakRSS: 100, requests: 0.01 };
  expect(ratioBars([ours, peer]).split("\n").slice(1)).toEqual([
    `create, 0 ms  wall time    1.50  ${"█".repeat(15)}`,
    `              median time  9.00  ${"█".repeat(40)}…`,
    `              memory       2.00  ${"█".repeat(20)}`,
    "              requests     0.01  ▏",
  ]);
  expect(ratioBars([ours])).toBe("");
});

it("draws no wall time of a phase that is as long as it was made", () => {
  const drift: Figures = { phase: "drift", latencyMs: 50, objects: 500, wallSeconds: 400, p50: 1000 };
  expect(ratioBars([drift, { ...drift, peer: true, p50: 2000 }]).split("\n")).toEqual([
    "                           ×     the peer is 1.00",
    "drift, 50 ms  median time  0.50  █████",
  ]);
});

it("says nothing of targets where there are none", () => {
  expect(verdictTable([])).toBe("");
});
