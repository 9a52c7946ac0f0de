import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { killed, sortOfStory, stories } from "./chaos/killed.ts";
import { sortOf, steps } from "./chaos/steps.ts";
import { waitsOf } from "./support/waits.ts";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/architecture.md"), "utf8");

const sources = globSync("src/reconcile/*.ts", { cwd: root }).filter((file) => !file.endsWith(".test.ts"));
const waits = waitsOf(
  sources.map((file) => [basename(file), readFileSync(join(root, file), "utf8")]),
  ["Cluster", "Remotes"],
).map(({ file, within, on }) => `${file} ${within}: ${on}`);

/** The rows of the table below a heading, each as its cells. */
function tableBelow(heading: string): string[][] {
  const [, text = ""] = page.split(`\n${heading}\n`);
  const [table = ""] = /(?:^\|.*\n)+/m.exec(text) ?? [];
  const [, , ...rows] = table.trim().split("\n");
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const codeIn = (cell = ""): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
const sorted = (items: Iterable<string>): string[] => [...items].sort();

const killPoints = tableBelow("## Kill points");
const places = tableBelow("### Where a pass waits");
const told = places.flatMap(([, , awaitedIn]) => codeIn(awaitedIn));

test("every await of src/reconcile that leaves the algorithm has its kill point in the page", () => {
  expect(
    sorted(waits.filter((wait) => !told.includes(wait))),
    'New awaits: add each to a row of the table "Where a pass waits" in docs/architecture.md, name the kill points at ' +
      "which the process may end there, and let test/chaos kill it at that step",
  ).toEqual([]);
  expect(waits.length, "An await that stands twice in a function is a new one: give it a function of its own").toBe(
    new Set(waits).size,
  );
});

test("every await in the page is in src/reconcile", () => {
  expect(
    sorted(told.filter((wait) => !waits.includes(wait))),
    'Awaits that are no more: take them out of the table "Where a pass waits" in docs/architecture.md',
  ).toEqual([]);
  expect(new Set(told).size, "An await is told twice").toBe(told.length);
});

test("what the awaits name are kill points, and each kill point is named", () => {
  const numbers = killPoints.map(([number = ""]) => number);
  const named = places.flatMap(([, , , points = ""]) => points.split(", "));
  expect(numbers).toEqual(numbers.map((_, index) => `${index + 1}`));
  expect(sorted(new Set(named))).toEqual(sorted(numbers));
});

test("every step of a pass is one that test/chaos can tell, and at which it kills", () => {
  const named = places.flatMap(([, step]) => codeIn(step));
  expect(sorted(named)).toEqual(sorted(steps));
  expect(
    steps.filter((step) => !killed.some((one) => sortOf(one) === step)),
    "Nothing in test/chaos/killed.ts has this step: have a subject whose operation takes it",
  ).toEqual([]);
});

/** What cannot be done to some sorts: the spec names what it stands for, and an entry has nothing that could change. */
const impossible: Readonly<Record<string, readonly string[]>> = {
  modules: ["adopt", "replace"],
  entry: ["adopt", "update"],
};

test.each(["natural key", "mark", "no mark", "shown once", "modules", "entry"])(
  "a kind of each sort is killed in every operation that it has: %s",
  (sort) => {
    const operations = new Set(stories.filter((one) => sortOfStory(one) === sort).map(({ operation }) => operation));
    const possible = ["create", "update", "replace", "adopt", "delete"].filter(
      (one) => !impossible[sort]?.includes(one),
    );
    expect(sorted(operations)).toEqual(sorted(possible));
  },
);

test("each kill point is tested by a file that kills", () => {
  for (const [number, , , , tests = ""] of killPoints) {
    const files = [...tests.matchAll(/\((\.\.\/test\/chaos\/[^)]+)\)/g)].map(([, file = ""]) => file);
    expect(files, `kill point ${number}`).not.toEqual([]);
    for (const file of files) expect(readFileSync(join(root, "docs", file), "utf8")).toContain("killAt(");
  }
});
