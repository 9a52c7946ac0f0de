import { join } from "node:path";
import { Child, type ChildSettings } from "./child.ts";
import { Endpoints } from "./endpoints.ts";
import type { Labels } from "./metrics.ts";
import { type Ended, run } from "./run.ts";

/** The program, as its sources. */
export const SOURCES = join(import.meta.dirname, "../../src/main.ts");

/** The program that is started. Tests on a cluster start the bundle, as the image does: see global-setup.ts. */
export const OPERATOR = process.env["OPERATOR_PROGRAM"] ?? SOURCES;

/** Settings without limits and periodic lists, for tests and measurements that count requests. */
export const undisturbed = {
  REQUESTS_PER_MINUTE: "0",
  MAX_DELETES_PER_MINUTE: "0",
  RESYNC_INTERVAL: "1h",
  SESSION_SYNC_INTERVAL: "0",
} as const;

export interface OperatorSettings extends ChildSettings {
  /** The file that runs. Default: OPERATOR. */
  readonly main?: string;
  readonly kubeconfig: string;
  readonly gateway: { readonly url: string } & ({ readonly apiKey: string } | { readonly apiKeyFile: string });
  /** Default: all namespaces. */
  readonly namespaces?: readonly string[];
  /** Variables on top of those that follow from the other settings. */
  readonly env?: Readonly<Record<string, string>>;
}

export const environmentOf = ({ kubeconfig, gateway, namespaces = [], env }: OperatorSettings) => ({
  PATH: process.env["PATH"] ?? "",
  KUBECONFIG: kubeconfig,
  GATEWAY_BASE_URL: gateway.url,
  ...("apiKey" in gateway ? { GATEWAY_API_KEY: gateway.apiKey } : { GATEWAY_API_KEY_FILE: gateway.apiKeyFile }),
  WATCH_NAMESPACES: namespaces.join(","),
  METRICS_ADDRESS: "127.0.0.1:0",
  LEADER_ELECTION: "false",
  LOG_LEVEL: "info",
  ...env,
});

/** Runs a command of the program to its end. It has no other variables than PATH and those that are given. */
export const runCommand = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  killAt?: string,
): Promise<Ended> => {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return run(process.execPath, [OPERATOR, ...args], { env: { PATH, NODE_COMPILE_CACHE, ...env }, killAt });
};

/** The operator, in a process of its own. */
export class Operator extends Child {
  readonly #endpoints = new Endpoints((text) => this.said(text));
  #startedAt = 0;

  constructor(settings: OperatorSettings) {
    super(settings.main ?? OPERATOR, { args: ["run"], ...settings, env: environmentOf(settings) });
  }

  /** Resolves when its caches are synced, it leads, and its controllers run. */
  async started(signal?: AbortSignal): Promise<this> {
    this.#startedAt = Date.parse(JSON.parse(await this.said('"msg":"Started"', signal)).ts);
    return this;
  }

  /** When its controllers started, by its log, in milliseconds since the epoch; 0 before `started` has resolved. */
  get startedAt(): number {
    return this.#startedAt;
  }

  url(): Promise<string> {
    return this.#endpoints.url();
  }

  read(path: "/metrics" | "/healthz" | "/readyz"): Promise<string> {
    return this.#endpoints.read(path);
  }

  metric(name: string, labels?: Labels): Promise<number> {
    return this.#endpoints.metric(name, labels);
  }

  clusterRequests(): Promise<{ reads: number; writes: number }> {
    return this.#endpoints.clusterRequests();
  }
}
