import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { endWithThisProcess } from "./child.ts";
import type { FloorLine, FloorSettings } from "./floor-client.ts";

const MAIN = join(import.meta.dirname, "floor-client.ts");

/** Runs the plain client. `onStarted` is called when it has read the objects and is about to write. */
export async function runFloor(
  settings: FloorSettings,
  onStarted: (line: FloorLine) => Promise<void>,
): Promise<FloorLine> {
  const child = spawn(process.execPath, [MAIN, JSON.stringify(settings)], { stdio: ["ignore", "pipe", "inherit"] });
  endWithThisProcess(child);
  const lines: FloorLine[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(JSON.parse(line));
    if (lines.length === 1) await onStarted(lines[0] as FloorLine);
  }
  const [first, last] = lines;
  if (!first || !last) throw new Error("The plain client failed");
  return { at: last.at, cpuSeconds: last.cpuSeconds - first.cpuSeconds };
}
