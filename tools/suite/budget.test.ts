import { expect, test } from "vitest";
import { problemOf, readBudget, shareOf } from "./budget.ts";
import { runs } from "./parts.ts";
import { table, total } from "./table.ts";

const budget = { calibration: 0.8, parts: { unit: 100 } };

test("a part is compared with its budget, at the speed of the machine", () => {
  expect(shareOf(budget, { name: "unit", cpuSeconds: 120, calibration: 0.8 })).toBeCloseTo(1.2);
  expect(shareOf(budget, { name: "unit", cpuSeconds: 240, calibration: 1.6 })).toBeCloseTo(1.2);
  expect(shareOf(budget, { name: "another", cpuSeconds: 1, calibration: 0.8 })).toBeUndefined();
});

test("a part that has grown by half is a problem, and so is one without a budget", () => {
  expect(problemOf("unit", 1.5)).toBeUndefined();
  expect(problemOf("unit", 1.51)).toMatch(/^The part unit took 151 % of the CPU seconds that .*budget.json allows/);
  expect(problemOf("another", undefined)).toContain("SUITE_BUDGET=write");
});

test("each part has a budget, and no other has", () => {
  const names = (runs["test:all"] ?? []).map(({ name }) => name);
  expect(Object.keys(readBudget().parts)).toEqual(names);
});

test("the table has a line for each part, and one for all", () => {
  const times = { seconds: 61.4, cpuSeconds: 90.2, calibration: 1, hasBuilt: false };
  const one = { files: 2, passed: 10, failed: 0, failures: [], ...times };
  const rows = [
    { ...one, name: "unit", share: 0.934 },
    { ...one, name: "quick", failed: 1, hasBuilt: true },
  ];
  expect(table(rows)).toEqual([
    "part   files  passed  failed  wall s  CPU s        of budget",
    "unit       2      10       0      61     90             93 %",
    "quick      2      10       1      61     90  - (built tools)",
    "all        4      20       1     123    180",
  ]);
  expect(total(rows)).toMatchObject({ passed: 20, failed: 1 });
});
