import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withLock } from "./lock.ts";

let directory: string;
let path: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "lock-"));
  path = join(directory, "lock");
});
afterEach(() => rm(directory, { recursive: true }));

const deadPid = () => spawnSync("true").pid;

test("one works at a time, and the lock goes away with the work", async () => {
  let working = 0;
  const work = async () => {
    working += 1;
    expect(working).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    working -= 1;
  };
  await Promise.all([withLock(path, "it", {}, work), withLock(path, "it", {}, work)]);
  expect(await readdir(directory)).toEqual([]);
});

test("the lock goes away when the work fails", async () => {
  const work = () => Promise.reject(new Error("broken"));
  await expect(withLock(path, "it", {}, work)).rejects.toThrow("broken");
  expect(existsSync(path)).toBe(false);
});

test("the lock of a process that died is taken over", async () => {
  await writeFile(path, String(deadPid()));
  expect(await withLock(path, "it", {}, async () => "done")).toBe("done");
});

test("so is one whose pid is another's by now", async () => {
  await writeFile(path, String(process.pid));
  await utimes(path, new Date(0), new Date(0));
  expect(await withLock(path, "it", {}, async () => "done")).toBe("done");
});

test("waiting is told, and can be given up", async () => {
  await writeFile(path, String(process.pid));
  const lines: string[] = [];
  const options = { onProgress: (line: string) => lines.push(line), signal: AbortSignal.timeout(50) };
  await expect(withLock(path, "the build", options, async () => "done")).rejects.toMatchObject({ name: "AbortError" });
  expect(lines).toEqual(["waiting for the build in another process"]);
});
