import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm, symlink, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BUILD_MS, helmBinary } from "../../tools/cluster/build/build.ts";

/**
 * Whoever builds a commit gets what was released, bit by bit: two clones in different folders, made at different times. The
 * image itself is compared by `.ci/rebuild`, which needs Docker.
 */
const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const NEEDED = [
  "src",
  "charts",
  "crds",
  ".ci",
  "tools/bundle",
  "tools/plugin",
  "LICENSE",
  ...["package.json", "package-lock.json"],
];

let clones: string[] = [];
let path: string;

beforeAll(async () => {
  path = [dirname(await helmBinary()), process.env["PATH"]].join(delimiter);
  clones = [await clone(new Date("2020-01-01")), await clone(new Date())];
}, BUILD_MS);
afterAll(() => Promise.all(clones.map((directory) => rm(directory, { recursive: true }))));

async function clone(time: Date): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), `clone-${time.getFullYear()}-`));
  for (const name of [...NEEDED, "tsconfig.json"]) {
    await cp(join(root, name), join(directory, name), { recursive: true });
  }
  for (const file of await filesIn(directory)) await utimes(join(directory, file), time, time);
  await symlink(join(root, "node_modules"), join(directory, "node_modules"));
  return directory;
}

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(directory.length + 1)).sort();
}

/** The digest of each file, by its path. */
async function digests(directory: string): Promise<Record<string, string>> {
  const files = await filesIn(directory);
  const digest = async (file: string) =>
    createHash("sha256")
      .update(await readFile(join(directory, file)))
      .digest("hex");
  return Object.fromEntries(await Promise.all(files.map(async (file) => [file, await digest(file)] as const)));
}

/** Does something in each clone, and resolves with what a folder of each has then. */
async function inEach(folder: string, command: string, ...args: string[]): Promise<Record<string, string>[]> {
  const found: Record<string, string>[] = [];
  for (const cwd of clones) {
    await run(command, args, { cwd, env: { ...process.env, PATH: path } });
    found.push(await digests(join(cwd, folder)));
  }
  return found;
}

test("the program, in the archive of the plug-in", async () => {
  const [one, other] = await inEach("plugin", ".ci/plugin", "somebody", "plugin");
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  expect(Object.keys(one ?? {})).toEqual([`kubectl-tunnelgateway-${version}.tar.gz`, "tunnelgateway.yaml"]);
  expect(other).toEqual(one);
});

test("the chart, with the definitions in one file", async () => {
  const digest = `sha256:${"0".repeat(64)}`;
  const [one, other] = await inEach("release", ".ci/package", "somebody", digest, "release");
  expect(Object.keys(one ?? {})).toEqual(["crds.yaml", expect.stringMatching(/^tunnel-gateway-operator-.*\.tgz$/)]);
  expect(other).toEqual(one);
});

test("the list of its packages", async () => {
  const [one, other] = await inEach("bill", ".ci/sbom", "bill");
  expect(Object.keys(one ?? {})).toEqual(["sbom.cdx.json"]);
  expect(other).toEqual(one);
});
