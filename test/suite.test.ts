import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { clusterTests, longest, looks, nightlyTests, quickTests, runs, siteTests } from "../tools/suite/parts.ts";

const root = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const find = (...patterns: readonly string[]): string[] =>
  patterns.flatMap((pattern) => globSync(pattern, { cwd: root, exclude: ["**/node_modules/**"] })).sort();

const onCluster = find(...clusterTests);
const others = new Set([...onCluster, ...find(...siteTests, ...nightlyTests)]);
const unit = find("{src,test,tools}/**/*.test.ts").filter((file) => !others.has(file));
/** What `npm test` runs. */
const quick = new Set([...unit, ...find(...siteTests), ...quickTests]);

describe("the parts of the suite", () => {
  test("have each test file once", () => {
    const all = [...unit, ...onCluster, ...find(...siteTests, ...nightlyTests)];
    expect(all.sort()).toEqual(find("**/*.test.ts"));
  });

  test("name files that exist, once", () => {
    expect(quickTests.filter((file) => !onCluster.includes(file))).toEqual([]);
    expect([...new Set(quickTests)]).toEqual(quickTests);
    const names = new Set(onCluster.map((file) => basename(file, ".test.ts")));
    expect(longest.filter((name) => !names.has(name))).toEqual([]);
    expect(find(...looks).every((file) => find(...nightlyTests).includes(file))).toBe(true);
  });

  // On a machine that is five times as slow, such a limit fails a test in which nothing is wrong.
  test("have no limits of their own", () => {
    const limit = /^\s*\}, \d+_000\);$|^\s*(?:test|it)\(.*\{ timeout: /m;
    const limited = [...quick, ...onCluster].filter((file) => limit.test(read(file)));
    expect(limited).toEqual([]);
  });

  test("of all tests are those of npm test and the rest", () => {
    expect(runs["test:all"]).toEqual([...(runs["test"] ?? []), ...(runs["test:rest"] ?? [])]);
    const { scripts } = JSON.parse(read("package.json"));
    for (const name of Object.keys(runs)) expect(scripts[name]).toMatch(new RegExp(`tools/suite/main\\.ts ${name}$`));
  });
});

interface Row {
  readonly promise: string;
  readonly files: readonly string[];
}

/** The rows of the tables of a page whose last column is `Test`: the promise, and the test files that it links to. */
function rowsOf(page: string, text = read(page)): Row[] {
  const tables = [...text.matchAll(/^\|.*\| Tests? \|\n\|[-|]+\|\n((?:\|.*\n)+)/gm)];
  const lines = tables.flatMap(([, rows = ""]) => rows.trim().split("\n"));
  return lines.map((line) => ({
    promise: line.split("|")[1]?.trim() ?? "",
    files: [...line.matchAll(/\]\(([^)]+\.test\.ts)\)/g)].map(([, target = ""]) =>
      relative(root, join(root, dirname(page), target)),
    ),
  }));
}

/** Rows that `npm test` does not hold where they are tested: on a real API server, or by unit tests alone. */
const missed = (rows: readonly Row[]): string[] =>
  rows
    .filter(({ files }) => {
      const real = files.filter((file) => onCluster.includes(file));
      return !(real.length > 0 ? real : files).some((file) => quick.has(file));
    })
    .map(({ promise }) => promise);

describe("npm test holds each promise", () => {
  const safety = rowsOf("docs/architecture/safety.md");
  const [, behaviour = ""] = read("docs/architecture/testing.md").split("\n## What `npm test` holds\n");
  const promises = rowsOf("docs/architecture/testing.md", behaviour.split("\n## ")[0]);

  test("of docs/architecture/safety.md", () => {
    expect(safety.length).toBeGreaterThan(40);
    expect(missed(safety), "add a file of each of these rows to quickTests in tools/suite/parts.ts").toEqual([]);
  });

  test("of docs/promises.md, on a real API server", () => {
    const [, section = ""] = read("docs/promises.md").split("\n## How it behaves\n");
    const made = [...(section.split("\n## ")[0] ?? "").matchAll(/^- \*\*(.+?)\*\*/gm)].map(([, promise]) => promise);
    expect(made.length).toBeGreaterThan(8);
    expect(promises.map(({ promise }) => promise)).toEqual(made);
    for (const { promise, files } of promises) {
      expect(
        files.filter((file) => quickTests.includes(file)),
        promise,
      ).not.toEqual([]);
    }
  });

  test("and a row whose tests are all elsewhere is noticed", () => {
    const row = "| Property | Test |\n|---|---|\n| It holds. | [bench](../../test/integration/costs/bench.test.ts) |\n";
    expect(missed(rowsOf("docs/architecture/safety.md", row))).toEqual(["It holds."]);
  });
});

test("npm test kills in the middle of a create, an update and a deletion, and runs each command", () => {
  for (const name of ["create", "update", "delete"]) expect(quickTests).toContain(`test/chaos/kill-${name}.test.ts`);
  const commandOf = (file: string) => basename(file).replace(/[-.].*/, "");
  const run = quickTests.filter((file) => file.includes("/commands/")).map(commandOf);
  const others = find("test/integration/commands/*.test.ts").filter((file) => !run.includes(commandOf(file)));
  expect(others, "add a file of each of these commands to quickTests in tools/suite/parts.ts").toEqual([]);
});
