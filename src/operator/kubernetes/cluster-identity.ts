import type { Config } from "../../config.ts";
import { Backoff } from "../../runtime/backoff.ts";
import { type Clock, sleep } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { type Logger, textOf } from "../../runtime/log.ts";
import { namespaces } from "./resource-types.ts";

/** Seconds; the same as for a reflector, which asks the same server. */
const BACKOFF = { base: 0.8, cap: 30, resetAfter: 120 };

export interface IdentityOptions {
  client: Pick<KubeClient, "get">;
  config: Pick<Config, "clusterID" | "podNamespace" | "watchNamespaces">;
  clock: Clock;
  log: Logger;
  random?: () => number;
}

/**
 * The id of this cluster in owner marks: `clusterID` of the configuration, else the uid of the namespace kube-system,
 * which lives as long as the cluster. An operator that watches a list of namespaces may not read kube-system, so it
 * takes the uid of its own namespace. What it may read does not decide: the id must not change while objects exist.
 *
 * Started and awaited like an informer: it retries until the API server answers.
 */
export class ClusterIdentity {
  /** Resolves when the id is known; rejects if stopped before. */
  readonly synced: Promise<void>;
  readonly #options: IdentityOptions;
  readonly #synced = Promise.withResolvers<void>();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #id: string | undefined;
  #problem = "not read yet";

  constructor(options: IdentityOptions) {
    this.#options = options;
    this.synced = this.#synced.promise;
    this.synced.catch(() => {});
  }

  get id(): string {
    if (this.#id === undefined) throw new Error("The id of the cluster is not known yet");
    return this.#id;
  }

  /** Why the id is not known yet; undefined when it is. */
  get reason(): string | undefined {
    return this.#id === undefined ? `namespace ${this.#namespace}: ${this.#problem}` : undefined;
  }

  start(): void {
    this.#running ??= this.#run(this.#stop.signal);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    this.#synced.reject(new Error("The id of the cluster: stopped before it was read"));
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, log, random = Math.random } = this.#options;
    const backoff = new Backoff(BACKOFF, clock, random);
    while (!(await this.#read(signal)) && !signal.aborted) {
      await sleep(clock, backoff.next(), signal).catch(() => {});
    }
    if (this.#id === undefined) return;
    log.info({ clusterID: this.#id }, "Owner marks name this cluster");
    this.#synced.resolve();
  }

  async #read(signal: AbortSignal): Promise<boolean> {
    const { client, config, log } = this.#options;
    try {
      this.#id = config.clusterID ?? (await client.get(namespaces, { name: this.#namespace }, { signal })).metadata.uid;
    } catch (error) {
      this.#problem = textOf(error);
      if (!signal.aborted) log.warn({ error }, "Could not read the id of the cluster");
    }
    return this.#id !== undefined;
  }

  get #namespace(): string {
    const { watchNamespaces, podNamespace } = this.#options.config;
    return watchNamespaces.length > 0 && podNamespace !== undefined ? podNamespace : "kube-system";
  }
}
