import { join } from "node:path";

const here = (name: string): string => join(import.meta.dirname, name);

/** The rooms whose unit tests run for any change. */
const TESTED = ["reconcile", "account", "objects"];

/** The unit tests that run for changes of these folders and files. */
export function testsFor(paths: readonly string[]): string[] {
  const rooms = paths.map((path) => path.split("/")[1] ?? "").filter((room) => room !== "" && !room.endsWith(".ts"));
  return [...new Set([...TESTED, ...rooms])].map((room) => `src/${room}/**/*.test.ts`);
}

/** Of one run: the folder for its files, and how many changes are tried at a time. */
interface Run {
  readonly folder: string;
  readonly concurrency: number | undefined;
}

/** The settings of StrykerJS for changes of these folders and files. */
export const settings = (paths: readonly string[], { folder, concurrency }: Run) => ({
  ...(concurrency !== undefined && { concurrency }),
  mutate: [...paths.map((path) => (path.endsWith(".ts") ? path : join(path, "**/*.ts"))), "!**/*.test.ts"],
  // texts, and objects, lists and functions as a whole: almost all of these are messages and names, or break everything
  mutator: { excludedMutations: ["StringLiteral", "Regex", "ObjectLiteral", "ArrayDeclaration", "ArrowFunction"] },
  // a copy of the project, with all changes in it, of which at most one is switched on at a time
  tempDirName: join(folder, "copy"),
  ignorePatterns: ["site", "dist"],
  // to adapt it, StrykerJS would call the JavaScript API of TypeScript, and TypeScript 7 has none
  tsconfigFile: "none",
  testRunner: "vitest",
  // the first run records which changes each test comes to, which takes 6 GB for src/reconcile
  testRunnerNodeArgs: ["--max-old-space-size=12288"],
  vitest: { configFile: here("vitest.config.ts"), related: false },
  plugins: ["@stryker-mutator/vitest-runner", here("plugins.ts")],
  checkers: ["sample"],
  reporters: ["json", "progress-append-only"],
  jsonReporter: { fileName: join(folder, "report.json") },
  logLevel: "warn",
});
