import { spawn } from "node:child_process";
import { once } from "node:events";

/** How a program ended, and what it printed. `code` is -1 if a signal ended it. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunSettings {
  readonly cwd?: string;
  /** Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Its standard input. Default: none. */
  readonly input?: string;
  /** It is killed as soon as its standard output contains this. */
  readonly killAt?: string | undefined;
  /** It is ended by SIGTERM after so many milliseconds. */
  readonly timeout?: number;
}

/** Runs a program to its end. Only fails if it cannot be started. */
export async function run(
  program: string,
  args: readonly string[],
  { input, killAt, ...options }: RunSettings = {},
): Promise<Ended> {
  const child = spawn(program, args, { ...options, stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"] });
  // It may end before it has read everything.
  child.stdin?.on("error", () => undefined).end(input);
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk) => {
      printed[name] += chunk;
      if (killAt !== undefined && printed.stdout.includes(killAt)) child.kill("SIGKILL");
    });
  }
  const [code] = await once(child, "close");
  return { code: code ?? -1, ...printed };
}
