import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const endWithParent = join(import.meta.dirname, "end-with-parent.mjs");
const POLL_MS = 5;
const LAST_LINES = 20;

export interface ChildSettings {
  /** `main` is an executable, and no file for node. It has to end when its file descriptor 3 is closed. */
  readonly isExecutable?: true | undefined;
  readonly args?: readonly string[];
  readonly nodeFlags?: readonly string[];
  /** Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The file for its output. Default: memory, which takes CPU time of this process. */
  readonly log?: string | undefined;
  /** Default: stderr is part of its output. */
  readonly stderr?: "inherit";
}

/**
 * A program in a process of its own. It ends with this process, even if this process is killed. Ctrl-C in
 * the terminal does not reach it.
 */
export class Child {
  /** Milliseconds since the epoch. */
  readonly spawnedAt = Date.now();
  readonly #process: ChildProcess;
  readonly #log: string | undefined;
  readonly #printed: string[] = [];
  readonly #closed: Promise<void>;
  #isRunning = true;

  constructor(main: string, settings: ChildSettings = {}) {
    const { args = [], nodeFlags = [], isExecutable, env = process.env, log, stderr } = settings;
    const [program, first] = isExecutable
      ? [main, []]
      : [process.execPath, ["--import", endWithParent, ...nodeFlags, main]];
    const output = log === undefined ? "pipe" : openSync(log, "w");
    this.#log = log;
    this.#process = spawn(program, [...first, ...args], {
      env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...env },
      stdio: ["ignore", output, stderr ?? output, "ipc"],
      detached: true,
    });
    if (typeof output === "number") closeSync(output);
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      if (stream) createInterface({ input: stream }).on("line", (line) => this.#printed.push(line));
    }
    // unlike `exit`, `close` comes after all output has been read
    this.#closed = new Promise((resolve) => {
      this.#process.once("close", () => {
        this.#isRunning = false;
        resolve();
      });
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Its output so far. */
  get lines(): readonly string[] {
    // the last line may be incomplete
    return this.#log === undefined ? this.#printed : readFileSync(this.#log, "utf8").split("\n").slice(0, -1);
  }

  get lastLines(): string {
    return this.lines.slice(-LAST_LINES).join("\n");
  }

  /** Resolves with the first line that contains a text. Fails if the process ends without printing it. */
  async said(text: string, signal?: AbortSignal): Promise<string> {
    for (;;) {
      // read before the lines: a process that has ended prints no more
      const { isRunning } = this;
      const line = this.lines.find((one) => one.includes(text));
      if (line !== undefined) return line;
      if (!isRunning) throw new Error(`The process ended (${this.how}) without saying ${text}:\n${this.lastLines}`);
      signal?.throwIfAborted();
      await sleep(POLL_MS);
    }
  }

  /** Null while it runs, and if a signal has ended it. */
  get exitCode(): number | null {
    return this.#process.exitCode;
  }

  /** How it ended: its exit code or signal, in words. */
  get how(): string {
    return this.#process.signalCode ?? `exit code ${this.#process.exitCode}`;
  }

  /** Resolves when it has ended, with its exit code, or null if a signal ended it. */
  async exited(): Promise<number | null> {
    await this.#closed;
    return this.#process.exitCode;
  }

  /** Sends a signal, and resolves as `exited` does. */
  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.signal(signal);
    return this.exited();
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  send(message: object): void {
    this.#process.send(message);
  }
}
