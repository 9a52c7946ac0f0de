import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { ended, endWithThisProcess } from "./child.ts";
import { nodeFlags } from "./image.ts";

const POLL_MS = 5;

export interface OperatorSettings {
  /** What node runs. */
  main: string;
  kubeconfig: string;
  namespace: string;
  service: { url: string; apiKey: string };
  /** Where its log goes; a file, as a pipe would have to be read while it is measured. */
  log: string;
  env?: Readonly<Record<string, string>>;
}

/** The operator, in a process of its own. */
export class Operator {
  readonly spawnedAt: number;
  readonly #child: ChildProcess;
  readonly #log: string;
  #address = "";
  #startedAt = 0;

  private constructor(child: ChildProcess, log: string) {
    this.#child = child;
    this.#log = log;
    this.spawnedAt = Date.now();
  }

  /** Resolves a few milliseconds after it says that its caches are synced and it is at work. */
  static async start(settings: OperatorSettings): Promise<Operator> {
    const log = openSync(settings.log, "w");
    const child = spawn(process.execPath, [...(await nodeFlags()), settings.main], {
      env: environment(settings),
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    endWithThisProcess(child);
    const operator = new Operator(child, settings.log);
    await operator.#started();
    return operator;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Milliseconds since the epoch at which it had its caches, by its own log. */
  get startedAt(): number {
    return this.#startedAt;
  }

  async stop(): Promise<void> {
    await ended(this.#child, "SIGTERM");
  }

  async #started(): Promise<void> {
    for (;;) {
      const lines = (await readFile(this.#log, "utf8")).split("\n");
      const told = (message: string) => lines.find((line) => line.includes(`"msg":"${message}"`));
      const [listening, started] = [told("Serving metrics and health"), told("Started")];
      if (listening && started) {
        const { host, port } = JSON.parse(listening);
        this.#address = `${host}:${port}`;
        this.#startedAt = Date.parse(JSON.parse(started).ts);
        return;
      }
      if (this.#child.exitCode !== null) throw new Error(`The operator did not start:\n${lines.slice(-20).join("\n")}`);
      await sleep(POLL_MS);
    }
  }

  /** The sum of a metric over all series that have one of these values of a label. */
  async metric(name: string, label: string, values: readonly string[]): Promise<number> {
    return sumOf(await this.metrics(), name, label, values);
  }

  /** Requests to the API server so far; watches and lists count as reads. */
  async clusterRequests(): Promise<{ reads: number; writes: number }> {
    const text = await this.metrics();
    const requests = (methods: string[]) => sumOf(text, "rest_client_requests_total", "method", methods);
    return { reads: requests(["GET"]), writes: requests(["POST", "PUT", "PATCH", "DELETE"]) };
  }

  async metrics(): Promise<string> {
    return (await fetch(`http://${this.#address}/metrics`)).text();
  }
}

function sumOf(text: string, name: string, label: string, values: readonly string[]): number {
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) && values.some((value) => line.includes(`${label}="${value}"`)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}

function environment({ kubeconfig, namespace, service, env }: OperatorSettings): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    NODE_ENV: "production",
    KUBECONFIG: kubeconfig,
    GATEWAY_BASE_URL: service.url,
    GATEWAY_API_KEY: service.apiKey,
    WATCH_NAMESPACES: namespace,
    METRICS_ADDRESS: "127.0.0.1:0",
    LEADER_ELECTION: "false",
    REQUESTS_PER_MINUTE: "0",
    MAX_DELETES_PER_MINUTE: "0",
    RESYNC_INTERVAL: "1h",
    // its lists would be counted among the requests of a phase
    SESSION_SYNC_INTERVAL: "0",
    LOG_LEVEL: "info",
    ...env,
  };
}
