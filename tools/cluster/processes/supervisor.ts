/**
 * Runs the processes of one cluster, in a session of its own, and owns their directory. When the process that forked it
 * ends, even by SIGKILL, the IPC channel closes. Then the supervisor kills its processes and removes the directory.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command, Report } from "./processes.ts";

// the path of a Unix socket has at most about 100 characters
const LONGEST_BASE = 60;

/** For Go's garbage collector. With its defaults it takes a fifth of the CPU time of an API server under test. */
const MORE_MEMORY_LESS_CPU = { GOGC: "400", GOMEMLIMIT: "2GiB" };

const base = tmpdir().length > LONGEST_BASE ? "/tmp" : tmpdir();
const directory = mkdtempSync(join(base, "tunnel-gateway-cluster-"));
const running = new Map<string, ChildProcess>();
let ending = false;

function report(message: Report): void {
  if (process.connected) process.send?.(message);
}

function start(name: string, file: string, args: readonly string[]): void {
  const log = openSync(join(directory, `${name}.log`), "a");
  // no other variables: etcd reads settings from its environment
  const env = { PATH: process.env["PATH"], TMPDIR: directory, ...MORE_MEMORY_LESS_CPU };
  const child = spawn(file, args, { cwd: directory, env, stdio: ["ignore", log, log] });
  closeSync(log);
  running.set(name, child);
  const ended = (how: string) => {
    if (running.get(name) !== child) return;
    running.delete(name);
    report({ type: "exited", name, how });
    if (ending && running.size === 0) void leave();
  };
  child.once("error", (error) => ended(error.message));
  child.once("exit", (code, signal) => ended(signal ?? `exit code ${code}`));
}

function end(): void {
  if (ending) return;
  ending = true;
  for (const child of running.values()) child.kill("SIGKILL");
  if (running.size === 0) void leave();
}

async function leave(): Promise<void> {
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
}

process.on("message", (command: Command) => {
  if (ending) return;
  if (command.type === "start") start(command.name, command.file, command.args);
  if (command.type === "signal") running.get(command.name)?.kill(command.signal);
  if (command.type === "end") end();
});
process.once("disconnect", end);
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, end);

report({ type: "ready", directory });
if (!process.connected) end();
