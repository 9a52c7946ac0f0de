import { execFile, spawn } from "node:child_process";
import { access, mkdir, readdir, rename, rm } from "node:fs/promises";
import { constants, homedir, setPriority } from "node:os";
import { basename, dirname, join, sep } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { isAlive, withLock } from "./lock.ts";
import { type PinnedTool, pinnedTool, type ToolName } from "./tools.ts";

export interface BuildOptions {
  readonly onProgress?: ((line: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Paths of binaries, by their names. */
export type Binaries = Readonly<Record<string, string>>;

/** The time that a test may wait for a build on a slow machine that has compiled nothing yet. */
export const BUILD_MS = 1_800_000;

/** The linker drops debugging information anyway. Not to make it saves time and memory in each package. */
const FASTER = ["-gcflags", "all=-dwarf=false"];

const HEARTBEAT_MS = 10_000;
const OUTPUT_LINES_KEPT = 30;

/**
 * Builds a tool with Go from its pinned module, unless it is in the user's cache folder already, where it is kept.
 * When two processes call this at once, one builds and the other waits.
 */
export async function buildTool(name: ToolName, options: BuildOptions = {}): Promise<Binaries> {
  const tool = await pinnedTool(name);
  const directory = cacheDirectory(tool);
  if (await exists(directory)) return binariesIn(directory, tool);

  await mkdir(dirname(directory), { recursive: true });
  await withLock(`${directory}.lock`, `the build of ${name} ${tool.version}`, options, async () => {
    if (await exists(directory)) return;
    await buildInto(directory, tool, options);
  });
  return binariesIn(directory, tool);
}

/** The path of helm. Builds it if needed. */
export async function helmBinary(options: BuildOptions = {}): Promise<string> {
  const { helm } = await buildTool("helm", options);
  return helm as string;
}

/** The path of the program that checks GitHub's workflows. Builds it if needed. */
export async function actionlintBinary(options: BuildOptions = {}): Promise<string> {
  const { actionlint } = await buildTool("actionlint", options);
  return actionlint as string;
}

/** The path of the program that tells how GitOps tools judge objects. Builds it if needed. */
export async function verdictBinary(options: BuildOptions = {}): Promise<string> {
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
export async function externalDNSBinary(options: BuildOptions = {}): Promise<string> {
  const { "external-dns": externalDNS } = await buildTool("external-dns", options);
  return externalDNS as string;
}

/** Whether {@link buildTool} would not have to build. */
export async function isBuilt(name: ToolName): Promise<boolean> {
  return exists(cacheDirectory(await pinnedTool(name)));
}

async function buildInto(directory: string, tool: PinnedTool, options: BuildOptions): Promise<void> {
  await removeUnfinished(directory);
  const unfinished = `${directory}.building-${process.pid}`;
  await mkdir(unfinished);
  try {
    await goBuild(tool, unfinished, options);
    await rename(unfinished, directory);
  } catch (error) {
    // another process has built the same thing in the meantime
    if (!(await exists(directory))) throw error;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Removes the directories of builds that were killed. */
async function removeUnfinished(directory: string): Promise<void> {
  const prefix = `${basename(directory)}.building-`;
  const siblings = await readdir(dirname(directory));
  const dead = siblings.filter((name) => name.startsWith(prefix) && !isAlive(Number(name.slice(prefix.length))));
  await Promise.all(dead.map((name) => rm(join(dirname(directory), name), { recursive: true, force: true })));
}

async function goBuild(tool: PinnedTool, directory: string, options: BuildOptions): Promise<void> {
  const what = `${tool.name} ${tool.version}`;
  const started = performance.now();
  const elapsed = () => `${Math.round((performance.now() - started) / 1000)} s`;
  const tail: string[] = [];
  let packages = 0;

  options.onProgress?.(`building ${what} with Go, once for all later runs`);
  const heartbeat = setInterval(() => {
    options.onProgress?.(`building ${what}: ${packages} packages compiled in ${elapsed()}`);
  }, HEARTBEAT_MS);
  try {
    const flags = ["-v", "-trimpath", "-buildvcs=false", "-mod=readonly", ...FASTER, "-ldflags", tool.ldflags];
    const code = await run(
      "go",
      ["build", ...flags, "-o", outputOf(tool, directory), ...Object.values(tool.binaries)],
      {
        cwd: tool.moduleDirectory,
        signal: options.signal,
        onLine: (line) => {
          if (!line.startsWith("go: ")) packages += 1;
          tail.push(line);
          if (tail.length > OUTPUT_LINES_KEPT) tail.shift();
        },
      },
    );
    if (code !== 0) throw new Error(`go build of ${what} failed (exit ${code}):\n${tail.join("\n")}`);
    options.onProgress?.(`built ${what} in ${elapsed()}`);
  } finally {
    clearInterval(heartbeat);
  }
}

/** With several binaries `-o` names a directory, with one its file. */
function outputOf({ binaries }: PinnedTool, directory: string): string {
  const names = Object.keys(binaries);
  return names.length === 1 ? join(directory, names[0] as string) : `${directory}${sep}`;
}

interface RunOptions {
  readonly cwd: string;
  readonly signal: AbortSignal | undefined;
  readonly onLine: (line: string) => void;
}

function run(command: string, args: string[], { cwd, signal, onLine }: RunOptions): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: goEnvironment(),
      stdio: ["ignore", "ignore", "pipe"],
      ...(signal && { signal }),
    });
    // Tests may run meanwhile, and must not starve.
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    createInterface({ input: child.stderr }).on("line", onLine);
    child.once("error", reject);
    child.once("close", resolve);
  });
}

/**
 * The environment of the user without variables that change the target platform or the source of modules. With GOGC set, a
 * compiler starts with a small heap: most packages are small, and fresh memory is dear on a virtual machine.
 */
function goEnvironment(): NodeJS.ProcessEnv {
  const { GOOS: _os, GOARCH: _arch, GOFLAGS: _flags, ...rest } = process.env;
  return { GOTOOLCHAIN: "auto", GOGC: "100", ...rest, CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "" };
}

function cacheDirectory({ name, version, digest }: PinnedTool): string {
  const folder = `${name}-${version}-${process.platform}-${process.arch}-${digest}`;
  return join(toolsCache(), folder);
}

/** The folder of the user's cache that keeps the tools of this project. */
export function toolsCache(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return join(userCache(env["XDG_CACHE_HOME"]), "tunnel-gateway-operator");
}

function userCache(given: string | undefined): string {
  if (given) return given;
  return process.platform === "darwin" ? join(homedir(), "Library", "Caches") : join(homedir(), ".cache");
}

function binariesIn(directory: string, tool: PinnedTool): Binaries {
  return Object.fromEntries(Object.keys(tool.binaries).map((binary) => [binary, join(directory, binary)]));
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
