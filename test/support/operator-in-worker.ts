import { subscribe } from "node:diagnostics_channel";
import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { readConfig } from "../../src/config.ts";
import { runOperator } from "../../src/run-operator.ts";
import { OPERATOR_NAME } from "../../src/schema/contract.ts";
import { Endpoints } from "../../tools/shared/endpoints.ts";
import { environmentOf, undisturbed } from "../../tools/shared/operator.ts";
import type { TestOperator, TestSettings } from "./operator-process.ts";

const POLL_MS = 5;

/** A request of undici, as its diagnostics channel has it. */
interface Sent {
  readonly origin: string | URL;
  readonly method: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly completed: boolean;
  readonly aborted: boolean;
}

/** Requests of operators in this process to the API server that write and have no answer yet. */
const underWay = new Set<Sent>();
const records: string[][] = [];

subscribe("undici:request:create", (message) => {
  const { request } = message as { request: Sent };
  const { method, origin, headers } = request;
  // the service of a world has no certificate, and may never answer
  if (method !== "GET" && String(origin).startsWith("https:") && headers.includes(OPERATOR_NAME)) underWay.add(request);
});

subscribe("undici:request:headers", (message) => {
  const { request, response } = message as { request: Sent; response: { statusCode: number } };
  note(request, response.statusCode);
});

subscribe("undici:request:error", (message) => note((message as { request: Sent }).request, "failed"));

function note(request: Sent, outcome: number | "failed"): void {
  if (!underWay.has(request)) return;
  const [, name] = /\/namespaces\/[^/]+\/([^?]+)/.exec(request.path) ?? [request.path, request.path];
  for (const record of records) record.push(`${request.method} ${name} ${outcome}`);
}

/**
 * Starts a record of what operators in this process write to the API server, in the order of the answers. Each one is
 * like `PATCH ippolicies/office 200`.
 */
export function recordWrites(): readonly string[] {
  const record: string[] = [];
  records.push(record);
  return record;
}

/**
 * The operator, in the process of the test: the same in all but what only a process has. It saves more than half a second
 * of CPU time at each start.
 */
export class OperatorInWorker extends Endpoints implements TestOperator {
  readonly lines: string[] = [];
  /** Takes the listeners for signals, of which there are none here. */
  readonly #process = Object.assign(new EventEmitter(), {
    exit: (code: number) => {
      this.#exit(code);
      this.#process.emit("SIGTERM");
    },
  });
  readonly #exited = Promise.withResolvers<number>();
  #isRunning = true;
  #startedAt = 0;

  constructor({ clock, ...settings }: TestSettings) {
    super((text) => this.said(text));
    const { PATH: _, ...env } = environmentOf({
      ...settings,
      env: { ...undisturbed, LOG_LEVEL: "debug", ...settings.env },
    });
    if (clock || "OTEL_EXPORTER_OTLP_ENDPOINT" in env) throw new Error("This needs useWorld({ process: true })");
    const destination = { write: (line: string) => void this.lines.push(line.trimEnd()) };
    void runOperator(readConfig(env), { destination, process: this.#process }).then(
      (code) => this.#exit(code),
      (error) => {
        this.lines.push(`Failed: ${error}`);
        this.#exit(1);
      },
    );
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get startedAt(): number {
    return this.#startedAt;
  }

  async started(): Promise<this> {
    this.#startedAt = Date.parse(JSON.parse(await this.said('"msg":"Started"')).ts);
    return this;
  }

  exited(): Promise<number> {
    return this.#exited.promise;
  }

  /** Ends as after SIGTERM, and resolves with what would be the exit code. */
  async stop(): Promise<number> {
    this.#process.emit("SIGTERM");
    return await this.#exited.promise;
  }

  #exit(code: number): void {
    this.#isRunning = false;
    this.#exited.resolve(code);
  }

  /** Writes to the API server that have no answer yet, of all operators in this process. */
  get writesUnderWay(): number {
    for (const request of underWay) if (request.completed || request.aborted) underWay.delete(request);
    return underWay.size;
  }

  /** Resolves with the first line that contains a text. Fails if the operator ends without printing it. */
  async said(text: string): Promise<string> {
    for (;;) {
      const { isRunning } = this;
      const line = this.lines.find((one) => one.includes(text));
      if (line !== undefined) return line;
      if (!isRunning)
        throw new Error(`The operator ended without saying ${text}:\n${this.lines.slice(-20).join("\n")}`);
      await sleep(POLL_MS);
    }
  }
}
