import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../cluster/processes/port.ts";
import { type Processes, startProcesses } from "../cluster/processes/processes.ts";
import type { PrometheusPrograms } from "./programs.ts";

export interface PrometheusOptions {
  /** Groups of rules, as a PrometheusRule has them in its spec. */
  readonly groups?: readonly object[];
  /** How often it scrapes and evaluates rules. Default 1. */
  readonly everySeconds?: number;
}

/** What is scraped, with the labels that its series get. */
export interface Target {
  /** As `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A series of an answer. The values are pairs of a time in seconds since 1970 and a number. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [number, number])[];
}

export interface Span {
  readonly from: number;
  readonly to: number;
  readonly stepSeconds: number;
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: { readonly result: readonly Result[] };
}

interface Result {
  readonly metric: Record<string, string>;
  readonly value?: readonly [number, string];
  readonly values?: readonly (readonly [number, string])[];
}

const START_MS = 30_000;
const POLL_MS = 50;
const PORTS = 3;

/** A Prometheus on a port of the loopback interface. It ends with this process, and its data with it. */
export class Prometheus {
  readonly url: string;
  readonly #processes: Processes;

  /** See `start`. */
  constructor(url: string, processes: Processes) {
    this.url = url;
    this.#processes = processes;
  }

  /** Resolves when it answers queries. It scrapes nothing before `scrape` is called. */
  static async start(programs: PrometheusPrograms, options: PrometheusOptions = {}): Promise<Prometheus> {
    const processes = await startProcesses();
    try {
      return await launch(programs, processes, options);
    } catch (error) {
      await processes.end();
      throw error;
    }
  }

  /** Scrapes these from now on, and no others. */
  async scrape(targets: readonly Target[]): Promise<void> {
    await writeTargets(this.#processes.directory, targets);
  }

  /** The values at a time, in seconds since 1970; default: now. */
  async query(expression: string, at?: number): Promise<Series[]> {
    return this.#get("query", { query: expression, ...(at !== undefined && { time: String(at) }) });
  }

  async range(expression: string, { from, to, stepSeconds }: Span): Promise<Series[]> {
    const span = { start: String(from), end: String(to), step: String(stepSeconds) };
    return this.#get("query_range", { query: expression, ...span });
  }

  stop(): Promise<void> {
    return this.#processes.end();
  }

  async #get(path: "query" | "query_range", parameters: Record<string, string>): Promise<Series[]> {
    const answer = await fetch(`${this.url}/api/v1/${path}`, {
      method: "POST",
      body: new URLSearchParams(parameters),
    });
    const { status, error, data } = (await answer.json()) as Answer;
    if (status !== "success") throw new Error(`${error}: ${parameters["query"]}`);
    return data.result.map(({ metric, value, values = value ? [value] : [] }) => ({
      labels: metric,
      values: values.map(([time, text]) => [time, numberOf(text)] as const),
    }));
  }
}

const numberOf = (text: string): number => Number(text.replace("Inf", "Infinity"));

async function launch(
  { prometheus }: PrometheusPrograms,
  processes: Processes,
  { groups = [], everySeconds = 1 }: PrometheusOptions,
): Promise<Prometheus> {
  const { directory } = processes;
  const every = `${everySeconds}s`;
  // JSON is YAML as well
  await writeFile(join(directory, "rules.yaml"), JSON.stringify({ groups }));
  await writeTargets(directory, []);
  await writeFile(
    join(directory, "prometheus.yaml"),
    JSON.stringify({
      global: { scrape_interval: every, scrape_timeout: every, evaluation_interval: every },
      rule_files: [join(directory, "rules.yaml")],
      scrape_configs: [{ job_name: "operator", file_sd_configs: [{ files: [join(directory, "targets.json")] }] }],
    }),
  );
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    processes.start("prometheus", prometheus, [
      `--config.file=${join(directory, "prometheus.yaml")}`,
      `--storage.tsdb.path=${join(directory, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=warn",
    ]);
    const started = new Prometheus(`http://127.0.0.1:${port}`, processes);
    if (await answers(started, processes)) return started;
    const said = await processes.lastLines("prometheus");
    // somebody else has taken the port in the meantime
    if (attempt === PORTS || !said.includes("address already in use")) throw new Error(`No Prometheus:\n${said}`);
  }
}

/** False when it has ended. */
async function answers(prometheus: Prometheus, processes: Processes): Promise<boolean> {
  const deadline = performance.now() + START_MS;
  while (processes.isRunning("prometheus")) {
    const isReady = await fetch(`${prometheus.url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return true;
    if (performance.now() > deadline) throw new Error(`Prometheus is not ready after ${START_MS / 1000} s`);
    await sleep(POLL_MS);
  }
  return false;
}

/** Prometheus follows this file. It must never see half of it. */
async function writeTargets(directory: string, targets: readonly Target[]): Promise<void> {
  const file = join(directory, "targets.json");
  const groups = targets.map(({ url, labels }) => ({ targets: [new URL(url).host], labels }));
  await writeFile(`${file}.new`, JSON.stringify(groups));
  await rename(`${file}.new`, file);
}
