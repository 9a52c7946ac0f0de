import { randomUUID } from "node:crypto";
import { link, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Report } from "./progress.ts";

const POLL_MS = 500;
const REMIND_EVERY = 20;
const TOUCH_MS = 10_000;
// the pid of a process that has ended may belong to another process by now
const STALE_MS = 120_000;

/**
 * Runs `work` while no other process holds the lock at this path. Takes over the lock of a process that has ended. Two
 * processes that do so at the same moment both run, which is rare, but `work` must work even then.
 */
export async function withLock<T>(path: string, what: string, options: Report, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; !(await take(path)); attempt++) {
    if (await isStale(path)) {
      await rm(path, { force: true });
      continue;
    }
    if (attempt % REMIND_EVERY === 0) options.onProgress?.(`waiting for ${what} in another process`);
    await sleep(POLL_MS, undefined, options.signal && { signal: options.signal });
  }
  const touching = setInterval(() => void touch(path), TOUCH_MS);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    await rm(path, { force: true });
  }
}

async function take(path: string): Promise<boolean> {
  const mine = `${path}-${randomUUID()}`;
  await writeFile(mine, String(process.pid));
  try {
    // creates the lock with its content in one step, which writing a file does not
    await link(mine, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(mine, { force: true });
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    const [owner, { mtimeMs }] = await Promise.all([readFile(path, "utf8"), stat(path)]);
    return !isAlive(Number(owner)) || Date.now() - mtimeMs > STALE_MS;
  } catch {
    return false;
  }
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now).catch(() => undefined);
}

/** Whether there is a process with this pid. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
