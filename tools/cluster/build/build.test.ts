import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { buildTool, builtTool } from "./build.ts";

const run = promisify(execFile);

let directory: string;
let cache: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "build-"));
  cache = join(directory, "tunnel-gateway-operator");
  vi.stubEnv("XDG_CACHE_HOME", directory);
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true });
});

/** A compiler that logs its builds and runs a script. `$output` is the value of `-o`. It finds some packages stale. */
async function compiler(body: string, stale = 0): Promise<void> {
  const calls = join(directory, "calls");
  const output = 'for a; do [ "$last" = -o ] && output=$a; last=$a; done';
  const list = `[ "$1" = list ] && { i=0; while [ $i -lt ${stale} ]; do echo stale; i=$((i+1)); done; echo; exit; }`;
  await writeFile(join(directory, "go"), `#!/bin/sh\n${list}\necho "$PWD $*" >> ${calls}\n${output}\n${body}\n`);
  await chmod(join(directory, "go"), 0o755);
}

const calls = async () => (await readFile(join(directory, "calls"), "utf8")).trim().split("\n");

test("two that ask at once get one build, in the folder of the cache", async () => {
  await compiler('sleep 0.2; echo built > "$output"');
  const [first, second] = await Promise.all([buildTool("etcd"), buildTool("etcd")]);

  expect(first).toEqual(second);
  expect(await readFile(first["etcd"] as string, "utf8")).toBe("built\n");
  const folder = basename(dirname(first["etcd"] as string));
  expect(folder).toMatch(/^etcd-v3\.\d+\.\d+-[a-z0-9]+-[a-z0-9]+-[0-9a-f]{12}$/);
  expect(await readdir(cache)).toEqual([folder]);
  expect(await calls()).toHaveLength(1);
  expect(await builtTool("etcd")).toEqual(first);
});

test("a program that is several by its name is one build, and goes by each name", async () => {
  await compiler('printf "#!/bin/sh\\nbasename \\$0\\n" > "$output"; chmod +x "$output"');
  const binaries = await buildTool("kubernetes");
  expect(Object.keys(binaries)).toEqual(["kube-apiserver", "kube-controller-manager", "kubectl"]);
  for (const [name, path] of Object.entries(binaries)) expect((await run(path, [])).stdout).toBe(`${name}\n`);
  expect(await calls()).toHaveLength(1);
});

test("it says how many packages there are to compile, how far it is and how long it takes", async () => {
  await compiler('for package in a b c d e; do echo $package >&2; sleep 0.3; done; echo built > "$output"', 10);
  const lines: string[] = [];
  const bars: string[] = [];
  await buildTool("etcd", { onProgress: (line) => lines.push(line), onBar: (line) => bars.push(line) });
  expect(lines[0]).toMatch(/^building etcd v3\S+ with Go, once for all later runs$/);
  expect(lines[1]).toMatch(/: 10 packages to compile, which takes about 10 s if the machine does nothing else$/);
  expect(lines.at(-1)).toMatch(/^built etcd v3\S+ in \d+ s$/);
  expect(bars.at(-1)).toMatch(/█{9,}░+ \d of 10 packages compiled in \d+ s, about \d+ s left$/);
});

test("a build that fails says why and leaves nothing, and the next one may succeed", async () => {
  await compiler('echo "cannot find main" >&2; echo half > "$output"; exit 1');
  await expect(buildTool("etcd")).rejects.toThrow(/etcd v3.*exit 1.*cannot find main/s);
  expect(await readdir(cache)).toEqual([]);
  expect(await builtTool("etcd")).toBeUndefined();

  await compiler('echo built > "$output"');
  const { etcd } = await buildTool("etcd");
  expect(await readFile(etcd as string, "utf8")).toBe("built\n");
});

test("what a killed build left is removed by the next", async () => {
  await compiler('echo built > "$output"');
  const { etcd } = await buildTool("etcd");
  const folder = dirname(etcd as string);
  await rm(folder, { recursive: true });
  // no system has pids as large as this
  await mkdir(`${folder}.unfinished-2147483646`);

  await buildTool("etcd");
  expect(await readdir(cache)).toEqual([basename(folder)]);
});

test("a build can be given up", async () => {
  await compiler("exec sleep 60");
  await expect(buildTool("etcd", { signal: AbortSignal.timeout(300) })).rejects.toMatchObject({ name: "AbortError" });
  expect(await readdir(cache)).toEqual([]);
});
