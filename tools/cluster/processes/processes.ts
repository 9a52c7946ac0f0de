import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";

export type Command =
  | { type: "start"; name: string; file: string; args: readonly string[] }
  | { type: "signal"; name: string; signal: NodeJS.Signals }
  | { type: "end" };

export type Report = { type: "ready"; directory: string } | { type: "exited"; name: string; how: string };

/** Processes that end with this one, and their directory. */
export interface Processes {
  /** Readable by this user only; removed at the end. Holds `<name>.log` of every process. */
  readonly directory: string;
  start(name: string, file: string, args: readonly string[]): void;
  signal(name: string, signal: NodeJS.Signals): void;
  isRunning(name: string): boolean;
  /** Resolves when the process has ended, with its exit code or signal in words. */
  exited(name: string): Promise<string>;
  lastLines(name: string): Promise<string>;
  /** Kills all of them and removes the directory. May be called again. */
  end(): Promise<void>;
}

const LINES = 20;
const LONGEST_LINE = 400;

export async function startProcesses(): Promise<Processes> {
  const { PATH, TMPDIR } = process.env;
  const supervisor = fork(join(import.meta.dirname, "supervisor.ts"), {
    detached: true,
    execArgv: [],
    env: { PATH, ...(TMPDIR && { TMPDIR }) },
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const gone = once(supervisor, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const directory = await directoryOf(supervisor, gone);
  const exits = new Map<string, PromiseWithResolvers<string>>();

  supervisor.on("message", (report: Report) => {
    if (report.type === "exited") settle(report.name, report.how);
  });
  const finished = gone.then(async ([code]) => {
    if (code !== 0) await cleanUpAfter(supervisor, directory);
    for (const name of exits.keys()) settle(name, "killed with its supervisor");
  });

  function settle(name: string, how: string): void {
    exits.get(name)?.resolve(how);
    exits.delete(name);
  }
  const send = (command: Command) => {
    if (supervisor.connected) supervisor.send(command);
  };

  return {
    directory,
    start(name, file, args) {
      if (exits.has(name)) throw new Error(`${name} is already running`);
      exits.set(name, Promise.withResolvers());
      send({ type: "start", name, file, args });
    },
    signal: (name, signal) => send({ type: "signal", name, signal }),
    isRunning: (name) => exits.has(name),
    exited: (name) => exits.get(name)?.promise ?? Promise.resolve("not running"),
    lastLines: (name) => lastLines(join(directory, `${name}.log`)),
    end() {
      send({ type: "end" });
      return finished;
    },
  };
}

async function directoryOf(supervisor: ChildProcess, gone: Promise<unknown>): Promise<string> {
  const failed = gone.then(() => {
    throw new Error("The process that supervises the cluster did not start");
  });
  const [report] = (await Promise.race([once(supervisor, "message"), failed])) as [Report];
  if (report.type !== "ready") throw new Error(`Unexpected ${report.type} before the supervisor is ready`);
  return report.directory;
}

/** After the supervisor was killed. The processes that it started are still in its process group. */
async function cleanUpAfter(supervisor: ChildProcess, directory: string): Promise<void> {
  try {
    process.kill(-(supervisor.pid as number), "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}

async function lastLines(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  const lines = text.trimEnd().split("\n").slice(-LINES);
  return lines.map((line) => line.slice(0, LONGEST_LINE)).join("\n");
}
