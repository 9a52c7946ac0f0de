import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

export interface Timed {
  readonly code: number;
  readonly seconds: number;
  /** Of the program and of everything that it started and waited for. */
  readonly cpuSeconds: number;
}

// The shell counts what its children and theirs have used, as POSIX has it: the same on Linux and macOS.
const SCRIPT = '"$@" 3>&-; code=$?; times >&3; exit $code';

/** Runs a program with the output of this process. It gets the signals that end this process. */
export async function timed(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<Timed> {
  const begin = performance.now();
  const shell = spawn("sh", ["-c", SCRIPT, "sh", ...command], {
    stdio: ["ignore", "inherit", "inherit", "pipe"],
    env: { ...process.env, ...env },
    detached: true,
  });
  const forward = (signal: NodeJS.Signals) => {
    if (shell.pid !== undefined) process.kill(-shell.pid, signal);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, forward);
  const { promise: ended, resolve, reject } = Promise.withResolvers<number>();
  shell.once("error", reject).once("close", (code) => resolve(code ?? 1));
  const times = await text(shell.stdio[3] as NodeJS.ReadableStream);
  const code = await ended;
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, forward);
  return { code, seconds: (performance.now() - begin) / 1000, cpuSeconds: childSeconds(times) };
}

/** The sum of the second line of `times`: user and system time of the children, such as `1m2.30s 0m4.56s`. */
export function childSeconds(times: string): number {
  const [, ofChildren = ""] = times.trim().split("\n");
  return [...ofChildren.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + Number(m) * 60 + Number(s), 0);
}
