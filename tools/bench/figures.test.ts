import { describe, expect, it } from "vitest";
import { type Figures, medians, percentile } from "./figures.ts";

describe("percentile", () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);

  it.each([
    [0.5, 51],
    [0.99, 100],
    [1, 100],
  ])("of %d", (share, expected) => {
    expect(percentile(values, share)).toBe(expected);
  });

  it("of nothing is nothing", () => {
    expect(percentile([], 0.5)).toBeUndefined();
  });
});

describe("medians", () => {
  const run = (latencyMs: number, wallSeconds: number, floorRatio?: number): Figures => ({
    phase: "create",
    latencyMs,
    objects: 2,
    wallSeconds,
    ...(floorRatio !== undefined && { more: { floorRatio } }),
  });

  it("are taken of each figure by itself, for each latency", () => {
    expect(medians([run(0, 3, 1), run(0, 1, 3), run(0, 2, 2), run(50, 9)])).toEqual([run(0, 2, 2), run(50, 9)]);
  });

  it("are taken for the peer by itself", () => {
    const peer = (wallSeconds: number): Figures => ({ ...run(0, wallSeconds), peer: true });
    expect(medians([run(0, 1), peer(2), peer(4)])).toEqual([run(0, 1), peer(3)]);
  });

  it("of an even number lie between the two in the middle", () => {
    expect(medians([run(0, 1), run(0, 2)])).toEqual([run(0, 1.5)]);
  });
});
