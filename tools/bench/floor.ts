import { type ChildProcessByStdio, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { ended, endWithThisProcess } from "./child.ts";
import type { FloorLine, FloorSettings } from "./floor-client.ts";

const MAIN = join(import.meta.dirname, "floor-client.ts");

type Settings = Omit<FloorSettings, "work">;

function start(settings: FloorSettings): ChildProcessByStdio<null, Readable, null> {
  const child = spawn(process.execPath, [MAIN, JSON.stringify(settings)], { stdio: ["ignore", "pipe", "inherit"] });
  endWithThisProcess(child);
  return child;
}

/** The plain client, doing what each new object takes as soon as it sees it. Resolves when it watches. */
export async function startFollower(settings: Settings): Promise<{ stop: () => Promise<void> }> {
  const child = start({ ...settings, work: "follow" });
  for await (const _ of createInterface({ input: child.stdout })) return { stop: () => ended(child, "SIGKILL") };
  throw new Error("The plain client failed");
}

/** Runs the plain client. `onStarted` is called when it has read the objects and is about to write. */
export async function runFloor(
  settings: Settings & { concurrency: number },
  onStarted: (line: FloorLine) => Promise<void>,
): Promise<FloorLine> {
  const { concurrency, ...others } = settings;
  const child = start({ ...others, work: { concurrency } });
  const lines: FloorLine[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(JSON.parse(line));
    if (lines.length === 1) await onStarted(lines[0] as FloorLine);
  }
  const [first, last] = lines;
  if (!first || !last) throw new Error("The plain client failed");
  return { at: last.at, cpuSeconds: last.cpuSeconds - first.cpuSeconds };
}
