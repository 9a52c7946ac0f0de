import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startProcesses } from "../cluster/processes/processes.ts";
import { Operator, type OperatorSettings } from "../shared/operator.ts";
import { NAMESPACE } from "./namespace.ts";

const READY_MS = 30_000;
const STOP_MS = 5_000;

export interface DemoOperatorOptions extends Pick<OperatorSettings, "kubeconfig" | "namespaces"> {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly resyncSeconds: number;
  /** Who is asked for DNS records, as `DNS_RESOLVERS` takes it. Default: the resolver of the system. */
  readonly resolver: string | undefined;
  readonly signal: AbortSignal;
}

/** The operator of the demo. Its log and API key are files, for people to look at. */
export interface DemoOperator {
  /** Where the files are. It is removed at the end, and people may find more files there until then. */
  readonly directory: string;
  readonly log: string;
  /** Readable by this user only. */
  readonly apiKeyFile: string;
  /** Serves `/metrics`, `/healthz` and `/readyz`. */
  readonly url: string;
  /** Aborts when the process ends by itself, with an Error that holds the last lines of its log. */
  readonly ended: AbortSignal;
  lastLines(): string;
  stop(): Promise<void>;
}

/** Resolves when the operator is at work. */
export async function startOperator(options: DemoOperatorOptions): Promise<DemoOperator> {
  // for its directory, which is removed even if this process is killed
  const processes = await startProcesses();
  try {
    return await startIn(processes.directory, () => processes.end(), options);
  } catch (error) {
    await processes.end();
    throw error;
  }
}

async function startIn(
  directory: string,
  removeDirectory: () => Promise<void>,
  { kubeconfig, namespaces = [], baseURL, apiKey, resyncSeconds, resolver, signal }: DemoOperatorOptions,
): Promise<DemoOperator> {
  const [log, apiKeyFile] = [join(directory, "operator.log"), join(directory, "api-key")];
  await writeFile(apiKeyFile, apiKey, { mode: 0o600 });
  const operator = new Operator({
    kubeconfig,
    namespaces,
    log,
    gateway: { url: baseURL, apiKeyFile },
    // the simulator has no limit, and at the default of 100 the demo would be slow
    env: {
      RESYNC_INTERVAL: `${resyncSeconds}s`,
      REQUESTS_PER_MINUTE: "600",
      POD_NAMESPACE: NAMESPACE,
      // as the chart has it, so that commands see who is at work
      LEADER_ELECTION: "true",
      // for the how-tos that take over what somebody has made
      ADOPTION_NAMESPACES: "*",
      SESSION_SYNC_INTERVAL: "5s",
      ...(resolver !== undefined && { DNS_RESOLVERS: resolver, EXTERNAL_DNS_NAMESPACES: "*" }),
    },
  });
  await atWork(operator, signal);

  const ended = new AbortController();
  let isStopping = false;
  const exited = operator.exited().then(() => {
    if (!isStopping)
      ended.abort(new Error(`The operator ended (${operator.how}). Its last lines:\n${operator.lastLines}`));
  });
  return {
    directory,
    log,
    apiKeyFile,
    url: await operator.url(),
    ended: ended.signal,
    lastLines: () => operator.lastLines,
    async stop() {
      isStopping = true;
      operator.signal("SIGTERM");
      await Promise.race([exited, sleep(STOP_MS, undefined, { ref: false })]);
      await operator.stop("SIGKILL");
      await removeDirectory();
    },
  };
}

async function atWork(operator: Operator, interrupted: AbortSignal): Promise<void> {
  const late = AbortSignal.timeout(READY_MS);
  try {
    await operator.started(AbortSignal.any([interrupted, late]));
  } catch (error) {
    await operator.stop("SIGKILL");
    interrupted.throwIfAborted();
    if (!late.aborted) throw error;
    throw new Error(`The operator is not ready after ${READY_MS / 1000} s. Its last lines:\n${operator.lastLines}`);
  }
}
