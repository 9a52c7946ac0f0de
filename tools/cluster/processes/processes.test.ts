import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Processes, startProcesses } from "./processes.ts";

async function processes(): Promise<Processes> {
  const started = await startProcesses();
  onTestFinished(() => started.end());
  return started;
}

const sh = (script: string): [string, string[]] => ["/bin/sh", ["-c", script]];

test("a process writes its log into a directory that only this user can open", async () => {
  const { directory, start, exited, lastLines } = await processes();
  start("talker", ...sh("echo out; echo err >&2; exit 3"));
  expect(await exited("talker")).toBe("exit code 3");
  expect(await lastLines("talker")).toBe("out\nerr");
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(existsSync(join(directory, "talker.log"))).toBe(true);
});

test("only the last lines are told, and those shortened", async () => {
  const { start, exited, lastLines } = await processes();
  start("talker", ...sh("i=0; while [ $i -lt 30 ]; do echo line $i; i=$((i+1)); done; printf '%1000s'"));
  await exited("talker");
  const lines = (await lastLines("talker")).split("\n");
  expect(lines[0]).toBe("line 10");
  expect(lines.at(-1)).toBe("line 29");
});

test("a process does not see the environment of this one", async () => {
  process.env["ETCD_NAME"] = "leaked";
  onTestFinished(() => {
    delete process.env["ETCD_NAME"];
  });
  const { start, exited, lastLines } = await processes();
  start("env", ...sh('echo "[$ETCD_NAME]"'));
  await exited("env");
  expect(await lastLines("env")).toBe("[]");
});

test("a process ends by the signal it is sent, and may be started again", async () => {
  const { start, signal, exited, isRunning } = await processes();
  start("sleeper", ...sh("exec sleep 600"));
  expect(isRunning("sleeper")).toBe(true);
  expect(() => start("sleeper", ...sh("exit 0"))).toThrow("already running");
  signal("sleeper", "SIGTERM");
  expect(await exited("sleeper")).toBe("SIGTERM");
  expect(isRunning("sleeper")).toBe(false);
  start("sleeper", ...sh("exit 0"));
  expect(await exited("sleeper")).toBe("exit code 0");
});

test("a file that is not there counts as a process that ended", async () => {
  const { start, exited } = await processes();
  start("nothing", "/nowhere/nothing", []);
  expect(await exited("nothing")).toContain("ENOENT");
});

test("the end kills what runs, even if frozen, and removes the directory", async () => {
  const { directory, start, signal, exited, end } = await processes();
  start("sleeper", ...sh("trap '' TERM; echo; exec sleep 600"));
  signal("sleeper", "SIGSTOP");
  const how = exited("sleeper");
  await end();
  expect(await how).toBe("SIGKILL");
  expect(existsSync(directory)).toBe(false);
  await end();
});
