import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

export interface Entry {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** The processes that have `text` in their command line. */
export async function processesWith(text: string): Promise<Entry[]> {
  return (await processTable()).filter(({ command }) => command.includes(text));
}

/** Those of `pids` that still run. A zombie does not. */
export async function runningAmong(pids: readonly number[]): Promise<number[]> {
  return (await processTable()).filter(({ pid }) => pids.includes(pid)).map(({ pid }) => pid);
}

async function processTable(): Promise<Entry[]> {
  const entries = await (existsSync("/proc/self/stat") ? fromProc() : fromPs());
  return entries.filter(({ command }) => command !== "" && !command.includes("<defunct>"));
}

async function fromProc(): Promise<Entry[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const entries = await Promise.all(pids.map((pid) => procEntry(pid).catch(() => undefined)));
  return entries.filter((entry) => entry !== undefined);
}

async function procEntry(pid: string): Promise<Entry> {
  const [stat, command] = await Promise.all([
    readFile(`/proc/${pid}/stat`, "utf8"),
    readFile(`/proc/${pid}/cmdline`, "utf8"),
  ]);
  // pid (name) state parent ...; the name may contain spaces and parentheses
  const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { pid: Number(pid), parent: Number(parent), command: command.replaceAll("\0", " ") };
}

async function fromPs(): Promise<Entry[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="]);
  return stdout.split("\n").flatMap((line) => {
    const [, pid, parent, command] = line.match(/^\s*(\d+)\s+(\d+)\s+(.*)$/) ?? [];
    return command ? [{ pid: Number(pid), parent: Number(parent), command }] : [];
  });
}
