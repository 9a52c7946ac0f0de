import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toolsCache } from "../cluster/build/cache.ts";
import { problemOf, readBudget, shareOf, writeBudget } from "./budget.ts";
import { calibrate } from "./calibrate.ts";
import { describeFailure } from "./failure.ts";
import { type Part, runs } from "./parts.ts";
import type { Outcome } from "./reporter.ts";
import { type Row, table, total } from "./table.ts";
import { timed } from "./timed.ts";

/*
 * node tools/suite/main.ts test [arguments of vitest]
 * Runs the parts of a command one after the other, and says what each took. What the variable SUITE_RESULTS names gets
 * the numbers of tests that passed and failed. SUITE_BUDGET=write keeps the CPU seconds in budget.json.
 */
const VITEST = "node_modules/.bin/vitest";

const [command = "test", ...given] = process.argv.slice(2);
const parts = runs[command] ?? [];
const isWhole = given.every((argument) => argument.startsWith("--sequence."));

/** Tools that are built or fetched within a part would count as its work. */
const tools = (): string => (existsSync(toolsCache()) ? readdirSync(toolsCache()).sort().join() : "");

async function runPart(part: Part, folder: string): Promise<Omit<Row, "calibration">> {
  const { name, project, mode } = part;
  const outcomeFile = join(folder, `${name}.json`);
  const before = tools();
  console.log(`\n=== ${name}`);
  const options = [
    "run",
    "--project",
    project,
    ...(mode ? ["--mode", mode] : []),
    ...(isWhole ? [] : ["--passWithNoTests"]),
  ];
  const { code, ...times } = await timed([VITEST, ...options, ...given], { SUITE_OUTCOME: outcomeFile });
  const outcome: Outcome = existsSync(outcomeFile)
    ? JSON.parse(readFileSync(outcomeFile, "utf8"))
    : { files: 0, passed: 0, failed: 0, failures: [] };
  // vitest may fail without a test that does
  const failed = code !== 0 && outcome.failed === 0 ? 1 : outcome.failed;
  return { name, ...times, ...outcome, failed, hasBuilt: tools() !== before };
}

/**
 * Runs the parts one after the other. What a machine can do changes while they run, so it is measured before and after
 * each.
 */
async function runParts(folder: string): Promise<Row[]> {
  const rows: Row[] = [];
  let before = isWhole ? await calibrate() : 0;
  for (const part of parts) {
    const row = await runPart(part, folder);
    const after = isWhole ? await calibrate() : 0;
    rows.push({ ...row, calibration: (before + after) / 2 });
    before = after;
  }
  return rows;
}

/** Lines about parts that took too much. Compares nothing where only some of the tests ran, or one failed. */
function overBudget(rows: readonly Row[]): string[] {
  const measured = rows.filter(({ hasBuilt, failed }) => !hasBuilt && failed === 0);
  if (!isWhole || measured.length === 0) return [];
  if (process.env["SUITE_BUDGET"] === "write") writeBudget(measured);
  const budget = readBudget();
  for (const row of measured) row.share = shareOf(budget, row);
  return measured.flatMap(({ name, share }) => problemOf(name, share) ?? []);
}

async function main(): Promise<number> {
  if (parts.length === 0) {
    console.error(`${command} is none of ${Object.keys(runs).join(", ")}`);
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), "suite-"));
  const rows = await runParts(folder);
  rmSync(folder, { recursive: true });
  const problems = overBudget(rows);
  const { passed, failed, files } = total(rows);
  if (files === 0) problems.push(`No test file fits ${given.join(" ")}`);
  const failures = rows.flatMap((row) => row.failures.flatMap(describeFailure));
  for (const line of ["", ...table(rows), ...failures, "", ...problems]) console.log(line);
  const wrong = failed + problems.length;
  if (process.env["SUITE_RESULTS"]) appendFileSync(process.env["SUITE_RESULTS"], `${passed} ${wrong}\n`);
  console.log(`${passed} passed, ${wrong} failed`);
  return wrong === 0 ? 0 : 1;
}

process.exitCode = await main();
