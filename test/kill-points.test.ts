import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { killedOperations, killedStepTypes, lookupMethodOf } from "./chaos/support/killed.ts";
import { steps } from "./chaos/support/steps.ts";

const root = join(import.meta.dirname, "..");
const pagePath = "docs/architecture/create-protocol.md";
const page = readFileSync(join(root, pagePath), "utf8");

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

const sorted = (items: Iterable<string>): string[] => [...items].sort();

const killPoints = tableBelow("## Kill points");

test("the kill points in the docs are numbered in order", () => {
  expect(killPoints.map(([number = ""]) => number)).toEqual(killPoints.map((_, index) => `${index + 1}`));
});

test("each step of a reconcile is one at which some kill test kills", () => {
  expect(
    steps.filter((step) => !killedStepTypes.has(step)),
    "No story in test/chaos/support/killed.ts has this step: add a subject whose operation takes it",
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
    const operations = new Set(
      killedOperations.filter((one) => lookupMethodOf(one) === sort).map(({ operation }) => operation),
    );
    const possible = ["create", "update", "replace", "adopt", "delete"].filter(
      (one) => !impossible[sort]?.includes(one),
    );
    expect(sorted(operations)).toEqual(sorted(possible));
  },
);

test("each kill point is tested by a file that kills", () => {
  for (const [number, , , , tests = ""] of killPoints) {
    const files = [...tests.matchAll(/\((\.\.\/\.\.\/test\/chaos\/[^)]+)\)/g)].map(([, file = ""]) => file);
    expect(files, `kill point ${number}`).not.toEqual([]);
    for (const file of files) expect(readFileSync(join(root, dirname(pagePath), file), "utf8")).toContain("killAt(");
  }
});
