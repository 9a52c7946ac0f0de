import { access, mkdir, readdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { isAlive, withLock } from "./lock.ts";
import type { Report } from "./progress.ts";

/** Paths of binaries, by their names. */
export type Binaries = Readonly<Record<string, string>>;

/**
 * Fills a folder of the cache, unless it is there. When two processes do so at once, one works and the other waits. The
 * folder appears under its name when all that is in it is there, so nothing half is ever used.
 */
export async function fill(
  directory: string,
  { what, ...options }: Report & { readonly what: string },
  work: (unfinished: string) => Promise<void>,
): Promise<void> {
  if (await exists(directory)) return;
  await mkdir(dirname(directory), { recursive: true });
  await withLock(`${directory}.lock`, what, options, async () => {
    if (await exists(directory)) return;
    await removeUnfinished(directory);
    const unfinished = `${directory}.unfinished-${process.pid}`;
    await mkdir(unfinished);
    try {
      await work(unfinished);
      await rename(unfinished, directory);
    } catch (error) {
      // another process has filled it in the meantime
      if (!(await exists(directory))) throw error;
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  });
}

/** Removes the directories of processes that were killed. */
async function removeUnfinished(directory: string): Promise<void> {
  const prefix = `${basename(directory)}.unfinished-`;
  const siblings = await readdir(dirname(directory));
  const dead = siblings.filter((name) => name.startsWith(prefix) && !isAlive(Number(name.slice(prefix.length))));
  await Promise.all(dead.map((name) => rm(join(dirname(directory), name), { recursive: true, force: true })));
}

interface Cached {
  readonly name: string;
  readonly version: string;
}

/** The folder of a tool. `origin`: what else its content depends on. */
export function cacheDirectory({ name, version }: Cached, origin: string): string {
  return join(toolsCache(), `${name}-${version}-${process.platform}-${process.arch}-${origin}`);
}

/** The folder of the user's cache that keeps the tools of this project. */
export function toolsCache(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return join(userCache(env["XDG_CACHE_HOME"]), "tunnel-gateway-operator");
}

function userCache(given: string | undefined): string {
  if (given) return given;
  return process.platform === "darwin" ? join(homedir(), "Library", "Caches") : join(homedir(), ".cache");
}

export const binariesIn = (directory: string, names: readonly string[]): Binaries =>
  Object.fromEntries(names.map((name) => [name, join(directory, name)]));

export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
