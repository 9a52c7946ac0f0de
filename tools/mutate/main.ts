import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onInterrupt } from "../shared/interrupt.ts";
import { runProgram, UsageError } from "../shared/program.ts";
import { program } from "./arguments.ts";
import { formatReport, type Report } from "./report.ts";
import type { Sampling } from "./sample.ts";
import { settings, testsFor } from "./settings.ts";

const stryker = join(import.meta.dirname, "node_modules/@stryker-mutator/core/bin/stryker.js");

await runProgram(program, async ({ files, count, seed = randomInt(2 ** 31), at, concurrency }) => {
  const paths = at.length > 0 ? [...new Set(at.map(({ file }) => file))] : files;
  for (const path of paths) if (!existsSync(path)) throw new UsageError(`${path} is not there`);
  const sampling: Sampling = { count, seed, places: at };
  const folder = mkdtempSync(join(tmpdir(), "mutate-"));
  try {
    const config = join(folder, "stryker.json");
    const given = settings(paths, { folder, concurrency });
    writeFileSync(config, JSON.stringify(given));
    const env = {
      ...process.env,
      MUTATE_SAMPLING: JSON.stringify(sampling),
      MUTATE_CHOSEN: join(folder, "chosen.json"),
      MUTATE_TESTS: testsFor(paths).join(","),
    };
    if ((await run([stryker, "run", config], env)) !== 0) return 1;
    console.log(formatReport(JSON.parse(readFileSync(given.jsonReporter.fileName, "utf8")) as Report, seed));
    return 0;
  } finally {
    rmSync(folder, { recursive: true, maxRetries: 10 });
  }
});

/** Resolves with the exit code of a program of node, null if a signal has ended it. What it prints goes to stderr. */
function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ["ignore", 2, 2], env });
    child.once("error", reject);
    child.once("close", resolve);
    onInterrupt(() => child.kill());
  });
}
