import { join } from "node:path";
import { Child } from "../shared/child.ts";
import type { FloorLine, FloorSettings } from "./floor-client.ts";

const MAIN = join(import.meta.dirname, "floor-client.ts");

type Settings = Omit<FloorSettings, "work">;

const start = (settings: FloorSettings): Child =>
  new Child(MAIN, { args: [JSON.stringify(settings)], stderr: "inherit" });

/** Starts the plain client, which handles each new object as soon as its watch reports it. Resolves when it watches. */
export async function startFollower(settings: Settings): Promise<{ stop: () => Promise<unknown> }> {
  const child = start({ ...settings, work: "follow" });
  await child.said("cpuSeconds");
  return { stop: () => child.stop("SIGKILL") };
}

/** Runs the plain client on the objects that exist. Calls `onStarted` when it has read them and begins to write. */
export async function runFloor(
  settings: Settings & { concurrency: number },
  onStarted: (line: FloorLine) => Promise<void>,
): Promise<FloorLine> {
  const { concurrency, ...others } = settings;
  const child = start({ ...others, work: { concurrency } });
  const first: FloorLine = JSON.parse(await child.said("cpuSeconds"));
  await onStarted(first);
  if ((await child.exited()) !== 0) throw new Error(`The plain client failed (${child.how})`);
  const last: FloorLine = JSON.parse(child.lines.at(-1) ?? "");
  return { at: last.at, cpuSeconds: last.cpuSeconds - first.cpuSeconds };
}
