import { execFile, spawn } from "node:child_process";
import { symlink } from "node:fs/promises";
import { availableParallelism, constants, setPriority } from "node:os";
import { join, sep } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { type Binaries, binariesIn, cacheDirectory, exists, fill } from "./cache.ts";
import { about, type Progress, type Report, reporting } from "./progress.ts";
import { type PinnedTool, pinnedTool, type ToolName } from "./tools.ts";

/** The time that a test may wait for a build on a slow machine that has compiled nothing yet. */
export const BUILD_MS = 1_800_000;

const OUTPUT_LINES_KEPT = 30;

/** What a package costs the compiler on average. It is only used before there is anything to measure. */
const PACKAGE_MS = 250;
const MEASURED_FROM = 0.1;

/**
 * Builds a tool with Go from its pinned module, unless it is in the user's cache folder already, where it is kept.
 * When two processes call this at once, one builds and the other waits.
 */
export async function buildTool(name: ToolName, options: Report = {}): Promise<Binaries> {
  const tool = await pinnedTool(name);
  const directory = folderOf(tool);
  await fill(directory, { ...options, what: `the build of ${name} ${tool.version}` }, async (unfinished) => {
    await goBuild(tool, unfinished, options);
    for (const alias of tool.aliases) await symlink(Object.keys(tool.binaries)[0] as string, join(unfinished, alias));
  });
  return binariesOf(directory, tool);
}

/** The binaries of a tool that were built earlier. */
export async function builtTool(name: ToolName): Promise<Binaries | undefined> {
  const tool = await pinnedTool(name);
  const directory = folderOf(tool);
  return (await exists(directory)) ? binariesOf(directory, tool) : undefined;
}

/** The path of helm. Builds it if needed. */
export async function helmBinary(options: Report = {}): Promise<string> {
  const { helm } = await buildTool("helm", options);
  return helm as string;
}

/** The path of the program that checks GitHub's workflows. Builds it if needed. */
export async function actionlintBinary(options: Report = {}): Promise<string> {
  const { actionlint } = await buildTool("actionlint", options);
  return actionlint as string;
}

/** The path of the program that tells how GitOps tools judge objects. Builds it if needed. */
export async function verdictBinary(options: Report = {}): Promise<string> {
  const { verdict } = await buildTool("verdict", options);
  return verdict as string;
}

/** The path of a file or folder in the module of a tool, such as the definitions that a controller needs. */
export async function inModuleOf(name: ToolName, path: string): Promise<string> {
  const { moduleDirectory, versionOf } = await pinnedTool(name);
  const { stdout } = await promisify(execFile)("go", ["mod", "download", "-json", versionOf], {
    cwd: moduleDirectory,
    env: goEnvironment(),
  });
  return join(JSON.parse(stdout).Dir, path);
}

/** The path of external-dns, with the provider for RFC 2136 only. Builds it if needed. */
export async function externalDNSBinary(options: Report = {}): Promise<string> {
  const { "external-dns": externalDNS } = await buildTool("external-dns", options);
  return externalDNS as string;
}

async function goBuild(tool: PinnedTool, directory: string, options: Report): Promise<void> {
  const what = `building ${tool.name} ${tool.version}`;
  const flags = ["-trimpath", "-buildvcs=false", "-mod=readonly", ...tool.compilation, "-ldflags", tool.ldflags];
  const packages = Object.values(tool.binaries);
  const started = performance.now();
  const tail: string[] = [];
  let compiled = 0;
  let total: number | undefined;

  options.onProgress?.(`${what} with Go, once for all later runs`);
  using _ = reporting(options, what, () => stateOf(compiled, total, performance.now() - started));
  const onLine = (line: string) => {
    if (!line.startsWith("go: ")) compiled += 1;
    tail.push(line);
    if (tail.length > OUTPUT_LINES_KEPT) tail.shift();
  };
  const counting = packagesToCompile(tool, flags, options.signal).then((count) => {
    total = count;
    if (count === 0) return;
    const time = about((count * PACKAGE_MS) / availableParallelism());
    options.onProgress?.(`${what}: ${count} packages to compile, which takes ${time} if the machine does nothing else`);
  });
  const args = ["build", "-v", ...flags, "-o", outputOf(tool, directory), ...packages];
  const { signal } = options;
  const [code] = await Promise.all([
    run("go", args, { cwd: tool.moduleDirectory, signal, lines: "stderr", low: true, onLine }),
    counting,
  ]);
  if (code !== 0)
    throw new Error(`go build of ${tool.name} ${tool.version} failed (exit ${code}):\n${tail.join("\n")}`);
  options.onProgress?.(`built ${tool.name} ${tool.version} in ${Math.round((performance.now() - started) / 1000)} s`);
}

/** With several binaries `-o` names a directory, with one its file. */
function outputOf({ binaries }: PinnedTool, directory: string): string {
  const names = Object.keys(binaries);
  return names.length === 1 ? join(directory, names[0] as string) : `${directory}${sep}`;
}

function stateOf(compiled: number, total: number | undefined, elapsed: number): Progress {
  const time = `${Math.round(elapsed / 1000)} s`;
  if (total === undefined) {
    return { done: 0, text: compiled ? `${compiled} packages compiled in ${time}` : `reading modules, ${time}` };
  }
  if (compiled >= total) return { done: total, total, text: `linking, after ${time}` };
  const share = compiled / total;
  const left = share < MEASURED_FROM ? "" : `, ${about((elapsed * (1 - share)) / share)} left`;
  return { done: compiled, total, text: `${compiled} of ${total} packages compiled in ${time}${left}` };
}

/** How many packages are not in Go's own cache. Go says so without compiling one. */
async function packagesToCompile(tool: PinnedTool, flags: string[], signal?: AbortSignal): Promise<number> {
  let missing = 0;
  const reasons = "{{if .Stale}}{{.StaleReason}}{{end}}";
  const onLine = (line: string) => {
    if (line && !line.includes("available in build cache")) missing += 1;
  };
  await run("go", ["list", "-deps", ...flags, "-f", reasons, ...Object.values(tool.binaries)], {
    cwd: tool.moduleDirectory,
    signal,
    lines: "stdout",
    onLine,
  });
  return missing;
}

interface RunOptions {
  readonly cwd: string;
  readonly signal: AbortSignal | undefined;
  readonly lines: "stdout" | "stderr";
  /** Lets everything else on this machine go first. */
  readonly low?: boolean | undefined;
  readonly onLine: (line: string) => void;
}

function run(command: string, args: string[], { cwd, signal, lines, low, onLine }: RunOptions): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: goEnvironment(),
      stdio: ["ignore", lines === "stdout" ? "pipe" : "ignore", lines === "stderr" ? "pipe" : "ignore"],
      ...(signal && { signal }),
    });
    // Tests may run meanwhile, and must not starve.
    if (low && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    createInterface({ input: child[lines] as Readable }).on("line", onLine);
    child.once("error", reject);
    child.once("close", resolve);
  });
}

/**
 * The environment of the user without variables that change the target platform or the source of modules. With GOGC set, a
 * compiler starts with a small heap: most packages are small, and fresh memory is dear on a virtual machine. A compiler ends
 * soon, so to collect its garbage seldom saves a seventh of its time, and needs at most 1 GB for the largest package.
 */
function goEnvironment(): NodeJS.ProcessEnv {
  const { GOOS: _os, GOARCH: _arch, GOFLAGS: _flags, ...rest } = process.env;
  return { GOTOOLCHAIN: "auto", GOGC: "400", ...rest, CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "" };
}

const folderOf = (tool: PinnedTool): string => cacheDirectory(tool, tool.digest);

const binariesOf = (directory: string, { binaries, aliases }: PinnedTool): Binaries =>
  binariesIn(directory, aliases.length > 0 ? aliases : Object.keys(binaries));
