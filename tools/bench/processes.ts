import { readFile } from "node:fs/promises";
import { processesWith } from "../cluster/processes/process-table.ts";

/** The kernel's unit of CPU time, on every Linux there is. */
const TICKS_PER_SECOND = 100;

/** User and system time of a process so far, in seconds; undefined where /proc does not tell. */
export async function cpuSeconds(pid: number | undefined): Promise<number | undefined> {
  const stat = pid === undefined ? "" : await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  if (stat === "") return undefined;
  // pid (name) state ...; the name may hold anything
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

export interface Memory {
  /** MiB now */
  rss: number | undefined;
  /** MiB at the most since the process began */
  peak: number | undefined;
}

export async function memoryOf(pid: number | undefined): Promise<Memory> {
  const status = pid === undefined ? "" : await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const mebibytes = (name: string) => {
    const kibibytes = status.match(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m"))?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) / 1024;
  };
  return { rss: mebibytes("VmRSS"), peak: mebibytes("VmHWM") };
}

/** Undefined where the API server is not a process of this machine. */
export async function apiServerAt(url: string): Promise<number | undefined> {
  const [found] = await processesWith(`--secure-port=${new URL(url).port} `);
  return found?.pid;
}
