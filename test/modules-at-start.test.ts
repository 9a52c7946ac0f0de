import { execFile } from "node:child_process";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/** Prints the address of each module at the end. */
const RECORDER = `
  import { writeSync } from "node:fs";
  import { registerHooks } from "node:module";
  const loaded = new Set();
  registerHooks({ load: (url, context, next) => (loaded.add(url), next(url, context)) });
  process.on("exit", () => writeSync(1, [...loaded].join("\\n")));`;

/** What a program loads, by path below the root. */
async function modulesOf(...args: readonly string[]): Promise<string[]> {
  const recorder = `data:text/javascript,${encodeURIComponent(RECORDER)}`;
  // without settings it ends when everything is loaded
  const running = promisify(execFile)(process.execPath, ["--import", recorder, ...args], { cwd: root, env: {} });
  const { stdout } = await running.catch((error) => error);
  const urls = String(stdout).split("\n");
  return urls.filter((url) => url.startsWith("file:")).map((url) => relative(root, fileURLToPath(url)));
}

const packageOf = (path: string): string | undefined => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];

/** Each takes time at every start, and memory for as long as the operator runs. */
const packages = [
  ...["@opentelemetry/api", "@pinojs/redact", "atomic-sleep", "bintrees", "lru-cache", "on-exit-leak-free", "pino"],
  ...[
    "pino-std-serializers",
    "prom-client",
    "quick-format-unescaped",
    "safe-stable-stringify",
    "sonic-boom",
    "tdigest",
  ],
  ...["thread-stream", "undici", "zod"],
];

/** Of the commands: what a failure at the start is told with, and the version. */
const commands = [
  ...["line", "plain", "progress", "table", "terminal", "wrapped"].map((name) => `src/cli/terminal/${name}.ts`),
  "src/cli/version.ts",
];

test("an operator loads no commands, and no packages but those that each operator needs", async () => {
  const modules = await modulesOf("src/main.ts", "run");
  expect([...new Set(modules.flatMap((path) => packageOf(path) ?? []))].sort()).toEqual(packages);
  expect(modules.filter((path) => path.startsWith("src/cli/")).sort()).toEqual(commands);
  // before more are loaded by every operator, somebody should look at what they cost
  expect(modules.filter((path) => path.startsWith("src/")).length).toBeLessThanOrEqual(340);
});
