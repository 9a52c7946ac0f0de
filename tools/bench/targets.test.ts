import { expect, it } from "vitest";
import type { Figures } from "./figures.ts";
import { verdicts } from "./targets.ts";

const trickle = (latencyMs: number, p50: number): Figures => ({ phase: "trickle", latencyMs, objects: 1, p50 });

it("judges a figure by the bound for its latency", () => {
  const found = verdicts([trickle(0, 40), trickle(50, 40), trickle(10, 40)]);
  expect(found.map(({ latencyMs, kept }) => [latencyMs, kept])).toEqual([
    [0, false],
    [50, true],
  ]);
});

it("judges a share of what the API server took", () => {
  const figures: Figures = { phase: "create", latencyMs: 0, objects: 1, operatorCPU: 1, apiServerCPU: 2 };
  expect(verdicts([figures])).toEqual([expect.objectContaining({ value: 0.5, kept: false })]);
});

it("says nothing of what was not measured", () => {
  expect(verdicts([{ phase: "resync", latencyMs: 0, objects: 1 }])).toEqual([]);
});

it("compares with the peer, and does not judge it", () => {
  const figures: Figures = { phase: "create", latencyMs: 50, objects: 1, wallSeconds: 2 };
  const found = verdicts([figures, { ...figures, peer: true, wallSeconds: 4 }]);
  expect(found).toEqual([expect.objectContaining({ value: 0.5, kept: true })]);
});
