import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

const main = join(import.meta.dirname, "../../src/main.ts");
const clockPreload = join(import.meta.dirname, "clock-preload.ts");

export interface OperatorSettings {
  kubeconfig: string;
  gateway: { url: string; apiKey: string };
  namespaces?: readonly string[];
  /** On top of what tests usually want: no request limit, a long resync interval, no leader election. */
  env?: Readonly<Record<string, string>>;
  /** The test has its clocks in hand: `rate` is how much faster than usual they run. */
  clock?: { readonly rate: number };
}

/** The operator as a process of its own, as the image runs it, so that a test can kill it. */
export class OperatorProcess {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #serving = Promise.withResolvers<void>();
  readonly #started = Promise.withResolvers<void>();
  #address = "";

  private constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on("line", (line) => this.#heed(line));
    }
    for (const { promise, reject } of [this.#serving, this.#started]) {
      promise.catch(() => {});
      child.once("exit", (code) => reject(new Error(`The operator ended with ${code}:\n${this.#lines.join("\n")}`)));
    }
  }

  /** Resolves when its caches are synced and it is at work. */
  static async start(settings: OperatorSettings): Promise<OperatorProcess> {
    const operator = await OperatorProcess.launch(settings);
    await operator.started;
    return operator;
  }

  /** Resolves when it serves metrics and health, which one that does not lead does as well. */
  static async launch(settings: OperatorSettings): Promise<OperatorProcess> {
    const { clock } = settings;
    const child = spawn(process.execPath, [...(clock ? ["--import", clockPreload] : []), main], {
      env: { ...environment(settings), ...(clock && { TEST_CLOCK_RATE: String(clock.rate) }), ...settings.env },
      stdio: ["ignore", "pipe", "pipe", ...(clock ? (["ipc"] as const) : [])],
    });
    const operator = new OperatorProcess(child);
    await operator.#serving.promise;
    return operator;
  }

  /** Resolves when it is at work: its caches are synced, and it leads. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  /** Everything it printed by now, a line each. */
  get log(): readonly string[] {
    return this.#lines;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The exit code, once it has ended by itself; null after a deadly signal. */
  async exited(): Promise<number | null> {
    if (this.running) await once(this.#child, "exit");
    return this.#child.exitCode;
  }

  /** SIGTERM and an orderly end, unless told otherwise. Returns the exit code, or null after a deadly signal. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    if (this.running) {
      const exited = once(this.#child, "exit");
      this.#child.kill(signal);
      await exited;
    }
    return this.#child.exitCode;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sets its calendar. */
  setClockBy(milliseconds: number): void {
    this.#child.send({ setBy: milliseconds });
  }

  async read(path: "/metrics" | "/healthz" | "/readyz"): Promise<string> {
    return (await fetch(`http://${this.#address}${path}`)).text();
  }

  /** The sum of a metric over all series that have these labels. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const lines = (await this.read("/metrics")).split("\n");
    return lines
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => wanted.every((label) => line.includes(label)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  }

  /** Writes to Kubernetes since it started. */
  async clusterWrites(): Promise<number> {
    const methods = await Promise.all(
      ["POST", "PUT", "PATCH", "DELETE"].map((method) => this.metric("rest_client_requests_total", { method })),
    );
    return methods.reduce((sum, count) => sum + count, 0);
  }

  #heed(line: string): void {
    this.#lines.push(line);
    if (line.includes('"Serving metrics and health"')) {
      const { host, port } = JSON.parse(line);
      this.#address = `${host}:${port}`;
      this.#serving.resolve();
    }
    if (line.includes('"msg":"Started"')) this.#started.resolve();
  }
}

function environment({ kubeconfig, gateway, namespaces = [] }: OperatorSettings): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    KUBECONFIG: kubeconfig,
    GATEWAY_BASE_URL: gateway.url,
    GATEWAY_API_KEY: gateway.apiKey,
    WATCH_NAMESPACES: namespaces.join(","),
    METRICS_ADDRESS: "127.0.0.1:0",
    LEADER_ELECTION: "false",
    REQUESTS_PER_MINUTE: "0",
    MAX_DELETES_PER_MINUTE: "0",
    RESYNC_INTERVAL: "1h",
    // its lists would be counted among the requests of a test
    SESSION_SYNC_INTERVAL: "0",
    LOG_LEVEL: "debug",
  };
}
