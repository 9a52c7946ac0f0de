import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../cluster/processes/port.ts";
import { type Processes, startProcesses } from "../cluster/processes/processes.ts";

const MAIN = resolve(import.meta.dirname, "../../src/main.ts");
const READY_MS = 30_000;
const POLL_MS = 100;
const STOP_MS = 5_000;

export interface OperatorOptions {
  readonly kubeconfig: string;
  readonly baseURL: string;
  readonly apiKey: string;
  /** Empty is all. */
  readonly namespaces: readonly string[];
  readonly resyncSeconds: number;
  readonly signal: AbortSignal;
}

/** The operator in a process of its own, that ends with this one whatever its death. */
export interface OperatorProcess {
  readonly log: string;
  /** Readable by this user only. */
  readonly apiKeyFile: string;
  /** Serves `/metrics`, `/healthz` and `/readyz`. */
  readonly url: string;
  /** Aborts when the process ends by itself, with an Error that holds the last lines of its log. */
  readonly ended: AbortSignal;
  lastLines(): Promise<string>;
  stop(): Promise<void>;
}

/** Resolves when the operator says that it is ready. */
export async function startOperator(options: OperatorOptions): Promise<OperatorProcess> {
  const processes = await startProcesses();
  const operator = await run(processes, options).catch(async (error: unknown) => {
    await processes.end();
    throw error;
  });
  try {
    await ready(operator, options.signal);
    return operator;
  } catch (error) {
    await operator.stop();
    throw error;
  }
}

async function run(processes: Processes, options: OperatorOptions): Promise<OperatorProcess> {
  const apiKeyFile = join(processes.directory, "api-key");
  await writeFile(apiKeyFile, options.apiKey, { mode: 0o600 });
  const address = `127.0.0.1:${await freePort()}`;
  const settings = {
    KUBECONFIG: options.kubeconfig,
    GATEWAY_BASE_URL: options.baseURL,
    GATEWAY_API_KEY_FILE: apiKeyFile,
    WATCH_NAMESPACES: options.namespaces.join(","),
    RESYNC_INTERVAL: `${options.resyncSeconds}s`,
    // the simulator has no limit, and nobody wants to watch the budget of a real account
    REQUESTS_PER_MINUTE: "600",
    METRICS_ADDRESS: address,
    LEADER_ELECTION: "false",
    LOG_LEVEL: "info",
  };
  const pairs = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  processes.start("operator", "env", [...pairs, process.execPath, MAIN]);

  const lastLines = () => processes.lastLines("operator");
  const ended = new AbortController();
  let stopping = false;
  const exited = processes.exited("operator").then(async (how) => {
    if (!stopping) ended.abort(new Error(`The operator ended (${how}). Its last lines:\n${await lastLines()}`));
  });

  return {
    log: join(processes.directory, "operator.log"),
    apiKeyFile,
    url: `http://${address}`,
    ended: ended.signal,
    lastLines,
    async stop() {
      stopping = true;
      processes.signal("operator", "SIGTERM");
      await Promise.race([exited, sleep(STOP_MS, undefined, { ref: false })]);
      await processes.end();
    },
  };
}

async function ready({ url, ended, lastLines }: OperatorProcess, interrupted: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([interrupted, ended]);
  const deadline = performance.now() + READY_MS;
  while (performance.now() < deadline) {
    signal.throwIfAborted();
    if (await answers(`${url}/readyz`)) return;
    await sleep(POLL_MS);
  }
  throw new Error(`The operator is not ready after ${READY_MS / 1000} s. Its last lines:\n${await lastLines()}`);
}

const answers = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(1000) }).then(
    ({ ok }) => ok,
    () => false,
  );
