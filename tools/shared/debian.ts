import { execFile } from "node:child_process";
import { access, constants, mkdir, readdir, rename, rm } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { toolsCache } from "../cluster/build/cache.ts";
import { withLock } from "../cluster/build/lock.ts";

const run = promisify(execFile);

type Environment = Readonly<Record<string, string | undefined>>;

/** Paths of programs, by their names. */
export type Programs<Name extends string> = Readonly<Record<Name, string>>;

export interface DebianOptions {
  readonly env?: Environment;
  /** What the machine lacks of the packages that it depends on is unpacked too: see `librariesOf`. */
  readonly libraries?: boolean;
  /** Folders beside those of the PATH in which the package has programs, from the root, such as `usr/lib/cni`. */
  readonly folders?: readonly string[];
}

/**
 * Programs of a package of Debian or Ubuntu: those on the PATH, else those in the user's cache folder. Where they are
 * missing and `CI` is set, the package is downloaded and unpacked there. Nothing is installed, so no service starts and
 * no rights of root are needed.
 *
 * Resolves with undefined if they are missing outside CI, where nothing is downloaded without being asked for.
 *
 * @throws in CI, if the package cannot be had: tests that were left out there would seem to pass.
 */
export async function debianPrograms<Name extends string>(
  name: string,
  programs: readonly Name[],
  { env = process.env, libraries = false, folders = [] }: DebianOptions = {},
): Promise<Programs<Name> | undefined> {
  const path = (env["PATH"] ?? "").split(delimiter).filter(Boolean);
  const installed = await findIn([...path, ...folders.map((folder) => join("/", folder))], programs);
  if (installed) return installed;
  const directory = join(toolsCache(env), `debian-${name}`);
  const unpacked = () =>
    findIn(
      ["usr/bin", "usr/sbin", ...folders].map((folder) => join(directory, folder)),
      programs,
    );
  const before = await unpacked();
  if (before || !env["CI"]) return before;
  await mkdir(dirname(directory), { recursive: true });
  await withLock(`${directory}.lock`, `the package ${name}`, {}, async () => {
    if (!(await unpacked())) await unpack(name, directory, { env, libraries });
  });
  const after = await unpacked();
  if (!after) throw new Error(`The package ${name} does not have ${programs.join(", ")}`);
  return after;
}

/** How a person gets what `debianPrograms` did not find. */
export const howToGet = (name: string): string =>
  `install ${name} (apt-get install ${name}), or set CI=true to have the package unpacked into the cache folder`;

async function findIn<Name extends string>(
  folders: readonly string[],
  programs: readonly Name[],
): Promise<Programs<Name> | undefined> {
  const paths: [Name, string][] = [];
  for (const program of programs) {
    const candidates = await Promise.all(folders.map((folder) => executable(join(folder, program))));
    const path = candidates.find((candidate) => candidate !== undefined);
    if (path === undefined) return undefined;
    paths.push([program, path]);
  }
  return Object.fromEntries(paths) as Programs<Name>;
}

const executable = (path: string): Promise<string | undefined> =>
  access(path, constants.X_OK).then(
    () => path,
    () => undefined,
  );

/** The folders with the libraries of a program that was unpacked. Empty for one that is installed. */
export async function librariesOf(program: string): Promise<string[]> {
  const folder = join(dirname(program), "../lib");
  if (!program.startsWith(toolsCache())) return [];
  // some packages have libraries of their own in a folder below
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  const libraries = entries.filter(({ name }) => /\.so(\.|$)/.test(name));
  return [...new Set(libraries.map(({ parentPath }) => parentPath))];
}

async function unpack(
  name: string,
  directory: string,
  { env, libraries }: Required<Omit<DebianOptions, "folders">>,
): Promise<void> {
  const unfinished = `${directory}.unpacking`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(join(unfinished, "package"), { recursive: true });
  try {
    await download(name, unfinished, { env, libraries });
    const files = (await readdir(unfinished)).filter((entry) => entry.endsWith(".deb"));
    for (const file of files)
      await run("dpkg", ["--extract", join(unfinished, file), join(unfinished, "package")], { env });
    await rm(directory, { recursive: true, force: true });
    await rename(join(unfinished, "package"), directory);
  } catch (error) {
    throw new Error(`The package ${name} cannot be had in CI; ${howToGet(name)}`, { cause: error });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** The machine's lists of packages may be missing, or so old that the package is gone. Then it takes lists of its own. */
async function download(
  name: string,
  folder: string,
  { env, libraries }: Required<Omit<DebianOptions, "folders">>,
): Promise<void> {
  const aptGet = (...args: string[]) => run("apt-get", args, { cwd: folder, env });
  const get = async (...options: string[]) => {
    const names = libraries ? await lacking(name, (...args) => aptGet(...options, ...args)) : [name];
    await aptGet(...options, "download", ...names);
  };
  await get().catch(async () => {
    const state = join(folder, "state");
    await mkdir(join(state, "lists/partial"), { recursive: true });
    const own = ["-o", `Dir::State=${state}`, "-o", `Dir::Cache=${join(folder, "cache")}`];
    const options = [...own, "-o", "Dir::State::status=/var/lib/dpkg/status"];
    await aptGet(...options, "update");
    await get(...options);
  });
}

/** What an installation of the package would install. Nothing is installed. */
async function lacking(name: string, aptGet: (...args: string[]) => Promise<{ stdout: string }>): Promise<string[]> {
  const { stdout } = await aptGet("install", "--simulate", "--no-install-recommends", name);
  return [...stdout.matchAll(/^Inst (\S+)/gm)].map(([, one = ""]) => one);
}
