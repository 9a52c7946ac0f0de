import { readdir, readFile } from "node:fs/promises";
import { processesWith } from "../cluster/processes/process-table.ts";

/** The unit of CPU time in /proc, which is the same on every Linux. */
const TICKS_PER_SECOND = 100;

/** The CPU time of a process so far, in seconds; undefined where there is no /proc. */
export async function cpuSeconds(pid: number | undefined): Promise<number | undefined> {
  const stat = pid === undefined ? "" : await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  if (stat === "") return undefined;
  // pid (name) state ...; the name may contain spaces and parentheses
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** The CPU time of all threads of a process that live, in milliseconds with a fraction: finer than `cpuSeconds`. */
export async function threadMilliseconds(pid: number | undefined): Promise<number> {
  const directory = `/proc/${pid}/task`;
  const files = (await readdir(directory)).map((thread) => `${directory}/${thread}/schedstat`);
  // a thread may have ended meanwhile
  const all = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "0")));
  return all.reduce((sum, text) => sum + Number(text.split(" ")[0]), 0) / 1e6;
}

export interface Memory {
  /** In MiB, now. */
  rss: number | undefined;
  /** In MiB, the maximum since the process began. */
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

/** The pid of the API server; undefined if it is not a process of this machine. */
export async function apiServerAt(url: string): Promise<number | undefined> {
  const [found] = await processesWith(`--secure-port=${new URL(url).port} `);
  return found?.pid;
}
