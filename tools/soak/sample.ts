import { readdir, readlink } from "node:fs/promises";
import { memoryOf } from "../bench/processes.ts";
import { sumOf } from "../shared/metrics.ts";
import type { Operator } from "../shared/operator.ts";

/** Quantities of a process that must not grow, at one time. */
export interface Sample {
  /** Seconds since the first sample. */
  at: number;
  /** In MiB; undefined where there is no /proc. */
  rss: number | undefined;
  /** In MiB, the heap in use. */
  heap: number;
  /** In MiB, the memory that is reserved for the heap. */
  reserved: number;
  /** In MiB, buffers and other memory outside of the heap. */
  external: number;
  sockets: number | undefined;
  timers: number;
  /** Everything that keeps the event loop alive: timers, sockets, pipes. */
  resources: number;
}

export const quantities = ["rss", "heap", "reserved", "external", "sockets", "timers", "resources"] as const;
export type Quantity = (typeof quantities)[number];

export async function sampleOf(operator: Operator, since: number): Promise<Sample> {
  const [text, { rss }, sockets] = await Promise.all([
    operator.read("/metrics"),
    memoryOf(operator.pid),
    socketsOf(operator.pid),
  ]);
  return {
    at: (Date.now() - since) / 1000,
    rss,
    sockets,
    heap: sumOf(text, "nodejs_heap_size_used_bytes") / 2 ** 20,
    reserved: sumOf(text, "nodejs_heap_size_total_bytes") / 2 ** 20,
    external: sumOf(text, "nodejs_external_memory_bytes") / 2 ** 20,
    timers: sumOf(text, "nodejs_active_resources", { type: "Timeout" }),
    resources: sumOf(text, "nodejs_active_resources"),
  };
}

async function socketsOf(pid: number | undefined): Promise<number | undefined> {
  const directory = `/proc/${pid}/fd`;
  const files = await readdir(directory).catch(() => undefined);
  // the file may have been closed in the meantime
  const targets = files?.map((file) => readlink(`${directory}/${file}`).catch(() => ""));
  return targets && (await Promise.all(targets)).filter((target) => target.startsWith("socket:")).length;
}
