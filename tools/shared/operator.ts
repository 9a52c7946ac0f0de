import { join } from "node:path";
import { Child, type ChildSettings } from "./child.ts";
import { clusterRequests, type Labels, sumOf } from "./metrics.ts";

export const OPERATOR = join(import.meta.dirname, "../../src/main.ts");

/** Without limits, and without lists that come by time: what is counted follows from what was done to objects. */
export const undisturbed = {
  REQUESTS_PER_MINUTE: "0",
  MAX_DELETES_PER_MINUTE: "0",
  RESYNC_INTERVAL: "1h",
  SESSION_SYNC_INTERVAL: "0",
} as const;

export interface OperatorSettings extends ChildSettings {
  /** What node runs. Default: the sources. */
  readonly main?: string;
  readonly kubeconfig: string;
  readonly gateway: { readonly url: string } & ({ readonly apiKey: string } | { readonly apiKeyFile: string });
  /** Default: all. */
  readonly namespaces?: readonly string[];
  /** On top of what follows from the others. */
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

/** The operator, in a process of its own. */
export class Operator extends Child {
  #startedAt = 0;
  #url: string | undefined;

  constructor(settings: OperatorSettings) {
    super(settings.main ?? OPERATOR, { ...settings, env: environmentOf(settings) });
  }

  /** Resolves when it is at work: its caches are synced, and it leads. */
  async started(signal?: AbortSignal): Promise<this> {
    this.#startedAt = Date.parse(JSON.parse(await this.said('"msg":"Started"', signal)).ts);
    return this;
  }

  /** Milliseconds since the epoch at which it was at work, by its own log; 0 before `started` has resolved. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /** Resolves with its own address when it serves metrics and health, which one that does not lead does as well. */
  async url(): Promise<string> {
    if (this.#url === undefined) {
      const { host, port } = JSON.parse(await this.said('"Serving metrics and health"'));
      this.#url = `http://${host}:${port}`;
    }
    return this.#url;
  }

  async read(path: "/metrics" | "/healthz" | "/readyz"): Promise<string> {
    return (await fetch(`${await this.url()}${path}`)).text();
  }

  /** See `sumOf`. */
  async metric(name: string, labels: Labels = {}): Promise<number> {
    return sumOf(await this.read("/metrics"), name, labels);
  }

  /** Since it started. */
  async clusterRequests(): Promise<{ reads: number; writes: number }> {
    return clusterRequests(await this.read("/metrics"));
  }
}
