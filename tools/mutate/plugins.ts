import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Mutator, mutators } from "./mutators.ts";
import { NOT_CHOSEN } from "./report.ts";
import { choose, type Mutant, type Sampling } from "./sample.ts";

/** What StrykerJS loads, in each of its processes. */

// The list is no part of the interface of StrykerJS, which has no other way to add to it. The version is exact.
const list = join(import.meta.dirname, "node_modules/@stryker-mutator/instrumenter/dist/src/mutators/mutate.js");
const { allMutators } = (await import(pathToFileURL(list).href)) as { allMutators: Mutator[] };
allMutators.push(...mutators);

/**
 * A checker says which mutants deserve a test run. One process is asked to group all of them, and then any process to
 * check a group, so the choice is in a file.
 */
function createSample() {
  const sampling = JSON.parse(process.env["MUTATE_SAMPLING"] ?? "") as Sampling;
  const file = process.env["MUTATE_CHOSEN"] ?? "";
  return {
    init: () => Promise.resolve(),
    async group(mutants: readonly Mutant[]): Promise<string[][]> {
      await writeFile(file, JSON.stringify(choose(mutants, sampling).map(({ id }) => id)));
      return [mutants.map(({ id }) => id)];
    },
    async check(mutants: readonly Mutant[]): Promise<object> {
      const chosen = new Set(JSON.parse(await readFile(file, "utf8")));
      const refused = { status: "compileError", reason: NOT_CHOSEN };
      return Object.fromEntries(mutants.map(({ id }) => [id, chosen.has(id) ? { status: "passed" } : refused]));
    },
  };
}

export const strykerPlugins = [{ kind: "Checker", name: "sample", factory: createSample }];
