import type { Config } from "../../config.ts";
import { Backoff } from "../../runtime/backoff.ts";
import { type Clock, sleep } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { type Logger, textOf } from "../../runtime/log.ts";

const namespaces = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };

/** Seconds; those of a reflector, which asks the same server. */
const BACKOFF = { base: 0.8, cap: 30, resetAfter: 120 };

export interface IdentityOptions {
  client: Pick<KubeClient, "get">;
  config: Pick<Config, "clusterID" | "podNamespace" | "watchNamespaces">;
  clock: Clock;
  log: Logger;
  random?: () => number;
}

/**
 * What names this cluster in the marks that are left in the account: what the configuration says, else the uid of
 * kube-system, which lives as long as the cluster. An operator of some namespaces has no right to read that and is
 * known by its own. Never by what it happens to be allowed: the name must not change while objects exist.
 *
 * Started and awaited like a cache: it asks until the API server answers.
 */
export class ClusterIdentity {
  /** Resolves when the id is known; rejects when stopped before. */
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

  /** Why it is not known yet. */
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
    log.info({ clusterID: this.#id }, "Marks in the account name this cluster");
    this.#synced.resolve();
  }

  async #read(signal: AbortSignal): Promise<boolean> {
    const { client, config, log } = this.#options;
    try {
      this.#id = config.clusterID ?? (await client.get(namespaces, { name: this.#namespace }, { signal })).metadata.uid;
    } catch (error) {
      this.#problem = textOf(error);
      if (!signal.aborted) log.warn({ error }, "Could not read what names this cluster");
    }
    return this.#id !== undefined;
  }

  get #namespace(): string {
    const { watchNamespaces, podNamespace } = this.#options.config;
    return watchNamespaces.length > 0 && podNamespace !== undefined ? podNamespace : "kube-system";
  }
}
