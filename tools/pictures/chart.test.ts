import { describe, expect, it } from "vitest";
import { type Chart, niceCeiling, numberIn, svgOf } from "./chart.ts";

const chart = (parts: Partial<Chart>): string =>
  svgOf({ title: "Requests", unit: "short", stacked: false, lines: [], from: 0, to: 10, stepSeconds: 5, ...parts });

/** The points of each line, from the top left corner. */
const lines = (svg: string): string[] =>
  [...svg.matchAll(/<polyline points="([^"]*)"/g)].map(([, points = ""]) => points);

const line = (name: string, ...values: [number, number][]) => ({ name, values });

describe("a chart", () => {
  it("has its lines from left to right, and from 0 up", () => {
    const svg = chart({ lines: [line("a", [0, 0], [10, 10])] });
    expect(lines(svg)).toEqual(["46.0,172.0 392.0,30.0"]);
  });

  it("puts areas on top of each other, also where one of them has no value", () => {
    const svg = chart({ stacked: true, lines: [line("a", [0, 5], [10, 5]), line("b", [10, 5])] });
    expect(lines(svg)).toEqual(["46.0,101.0 219.0,172.0 392.0,101.0", "46.0,101.0 219.0,172.0 392.0,30.0"]);
  });

  it("leaves out lines and points without a number", () => {
    const svg = chart({ lines: [line("a", [0, Number.NaN]), line("b", [0, 1], [5, Number.NaN], [10, 1])] });
    expect(lines(svg)).toEqual(["46.0,30.0 392.0,30.0"]);
    expect(svg).not.toContain(">a<");
  });

  it("shows names as they are", () => {
    expect(chart({ title: "a <b> & c" })).toContain("a &lt;b&gt; &amp; c");
  });

  it("says so when there is nothing, and when the legend is too long", () => {
    expect(chart({})).toContain(">none<");
    const many = Array.from({ length: 9 }, (_, index) => line(`line ${index}`, [0, 1]));
    expect(chart({ lines: many })).toContain("and 3 more");
  });
});

it.each([
  [0, 1],
  [0.3, 0.5],
  [1, 1],
  [7, 10],
  [120, 200],
])("an axis for %d ends at %d", (value, end) => {
  expect(niceCeiling(value)).toBeCloseTo(end);
});

it.each([
  [0, "s", "0 s"],
  [0.25, "s", "250 ms"],
  [90, "s", "1.5 min"],
  [172_800, "s", "2 d"],
  [1.2e8, "bytes", "120 MB"],
  [0.5, "reqps", "0.5/s"],
  [1500, "short", "1.5k"],
  [-3, "short", "-3"],
])("%d %s is shown as %s", (value, unit, text) => {
  expect(numberIn(value, unit)).toBe(text);
});
