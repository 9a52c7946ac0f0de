import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const endWithParent = join(import.meta.dirname, "end-with-parent.ts");
const POLL_MS = 5;
const LAST_LINES = 20;

export interface ChildSettings {
  readonly args?: readonly string[];
  readonly nodeFlags?: readonly string[];
  /** Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A file for what it prints, instead of memory: nothing has to be read while something is measured. */
  readonly log?: string | undefined;
  /** Default: together with what it prints. */
  readonly stderr?: "inherit";
}

/**
 * A program that node runs in a process of its own. It ends with this process, whatever ends this one. Ctrl-C in the
 * terminal does not reach it.
 */
export class Child {
  /** Milliseconds since the epoch. */
  readonly spawnedAt = Date.now();
  readonly #process: ChildProcess;
  readonly #log: string | undefined;
  readonly #printed: string[] = [];
  readonly #closed: Promise<void>;
  #isRunning = true;

  constructor(main: string, { args = [], nodeFlags = [], env = process.env, log, stderr }: ChildSettings = {}) {
    const output = log === undefined ? "pipe" : openSync(log, "w");
    this.#log = log;
    this.#process = spawn(process.execPath, ["--import", endWithParent, ...nodeFlags, main, ...args], {
      env,
      stdio: ["ignore", output, stderr ?? output, "ipc"],
      detached: true,
    });
    if (typeof output === "number") closeSync(output);
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      if (stream) createInterface({ input: stream }).on("line", (line) => this.#printed.push(line));
    }
    // unlike `exit`, it comes when all that was printed has been read
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

  /** Everything it printed by now. */
  get lines(): readonly string[] {
    // a line without its end is still being written
    return this.#log === undefined ? this.#printed : readFileSync(this.#log, "utf8").split("\n").slice(0, -1);
  }

  get lastLines(): string {
    return this.lines.slice(-LAST_LINES).join("\n");
  }

  /** Resolves with the first line that holds a text. Fails when the process ends without. */
  async said(text: string, signal?: AbortSignal): Promise<string> {
    for (;;) {
      // asked first: what it printed before its end counts
      const { isRunning } = this;
      const line = this.lines.find((one) => one.includes(text));
      if (line !== undefined) return line;
      if (!isRunning) throw new Error(`The process ended (${this.how}) without saying ${text}:\n${this.lastLines}`);
      signal?.throwIfAborted();
      await sleep(POLL_MS);
    }
  }

  /** Null while it runs, and after a deadly signal. */
  get exitCode(): number | null {
    return this.#process.exitCode;
  }

  /** The exit code or the signal that ended it, in words. */
  get how(): string {
    return this.#process.signalCode ?? `exit code ${this.#process.exitCode}`;
  }

  /** Resolves when it has ended: with its exit code, or null after a deadly signal. */
  async exited(): Promise<number | null> {
    await this.#closed;
    return this.#process.exitCode;
  }

  /** SIGTERM and an orderly end, unless told otherwise. Resolves as `exited` does. */
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
