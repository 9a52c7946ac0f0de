import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { KubeClient } from "../../src/runtime/connection/client.ts";
import { loadConnection } from "../../src/runtime/connection/kubeconfig.ts";
import { Transport } from "../../src/runtime/connection/transport.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { Operator, undisturbed } from "../shared/operator.ts";
import { imageEnvironment, imageFlags } from "./image.ts";
import { type Subject, subjects, type Types, types } from "./objects.ts";
import { concurrently } from "./phases/concurrently.ts";
import { apiServerAt } from "./processes.ts";
import { type Service, startService } from "./service.ts";
import { Watcher } from "./watcher.ts";

/** The number of concurrent writes to the API server. */
export const WRITERS = 64;

/** The operator that is measured. */
export interface MeasuredOperator {
  /** The file that node runs, or an executable. */
  main: string;
  isExecutable?: true;
  /** The kinds of its objects. Default: those of this project. */
  types?: Types;
  /** Beside what each operator is told. */
  env?: Readonly<Record<string, string>>;
}

export interface StageSettings {
  cluster: Pick<Cluster, "kubeconfig" | "url" | "kubectlRun">;
  operator: MeasuredOperator;
  latencyMs: number;
  /** How many requests a minute the service answers. Default: any number. */
  requestsPerMinute?: number;
  /** With the operator's own limits and intervals. Default: without limits and periodic lists. */
  asShipped?: true;
  /** Beside those of the image. */
  nodeFlags?: readonly string[] | undefined;
}

let stages = 0;

/** A namespace, an account and the operator, alone on an API server. */
export class Stage implements AsyncDisposable {
  readonly settings: StageSettings;
  readonly namespace: string;
  readonly service: Service;
  readonly watcher: Watcher;
  readonly client: KubeClient;
  readonly apiServer: number | undefined;
  readonly #transport: Transport;
  readonly #directory: string;
  #operator: Operator | undefined;

  private constructor(
    settings: StageSettings,
    parts: Pick<Stage, "namespace" | "service" | "watcher" | "apiServer"> & { directory: string },
  ) {
    this.settings = settings;
    this.namespace = parts.namespace;
    this.service = parts.service;
    this.watcher = parts.watcher;
    this.apiServer = parts.apiServer;
    this.#directory = parts.directory;
    this.#transport = new Transport(loadConnection(settings.cluster), { userAgent: "bench" });
    this.client = new KubeClient(this.#transport, { fieldManager: "bench" });
  }

  static async open(settings: StageSettings): Promise<Stage> {
    const { kubeconfig, url, kubectlRun } = settings.cluster;
    const namespace = `bench-${process.pid}-${++stages}`;
    await kubectlRun(["create", "namespace", namespace]);
    const [service, watcher, apiServer, directory] = await Promise.all([
      startService(settings.latencyMs, settings.requestsPerMinute),
      Watcher.start(kubeconfig, namespace, settings.operator.types ?? types),
      apiServerAt(url),
      mkdtemp(join(tmpdir(), "bench-")),
    ]);
    return new Stage(settings, { namespace, service, watcher, apiServer, directory });
  }

  get operator(): Operator {
    if (!this.#operator) throw new Error("No operator is running");
    return this.#operator;
  }

  async startOperator(env: Readonly<Record<string, string>> = {}): Promise<Operator> {
    await this.stopOperator();
    const { namespace, service, settings } = this;
    const { main, isExecutable, env: own } = settings.operator;
    const operator = new Operator({
      main,
      isExecutable,
      nodeFlags: [...(await imageFlags()), ...(settings.nodeFlags ?? [])],
      kubeconfig: settings.cluster.kubeconfig,
      gateway: service,
      namespaces: [namespace],
      log: join(this.#directory, "operator.log"),
      env: { ...(await imageEnvironment()), ...(settings.asShipped ? {} : undisturbed), ...own, ...env },
    });
    this.#operator = await operator.started();
    return this.#operator;
  }

  async stopOperator(): Promise<void> {
    await this.#operator?.stop();
    this.#operator = undefined;
  }

  get types(): Types {
    return this.settings.operator.types ?? types;
  }

  /** Objects that do not exist yet, of the API that is measured. */
  subjects(count: number, namespace = this.namespace): Subject[] {
    return subjects(count, namespace, this.types);
  }

  /** Creates objects. */
  async createSubjects(count: number): Promise<Subject[]> {
    const made = this.subjects(count);
    await concurrently(made, WRITERS, ({ type, object }) => this.client.create(type, object));
    return made;
  }

  /** Deletes objects without the operator: their finalizers are removed first. */
  async removeAll(left: readonly Subject[]): Promise<void> {
    const gone = this.watcher.until(left, (object) => object === undefined);
    await concurrently(left, WRITERS, async ({ type, object }) => {
      await this.client.patchMerge(type, object.metadata, { metadata: { finalizers: null } });
      await this.client.delete(type, object.metadata);
    });
    if (left.length > 0) await gone;
  }

  /** Resolves when for a while there was no request to the service and no write to the API server. */
  async quiet(milliseconds = 500): Promise<void> {
    let before = "";
    for (;;) {
      const now = JSON.stringify([await this.service.control.count(), (await this.operator.clusterRequests()).writes]);
      if (now === before) return;
      before = now;
      await sleep(milliseconds);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopOperator();
    await Promise.all([this.watcher.stop(), this.service.stop(), this.#transport.close()]);
    await this.settings.cluster.kubectlRun(["delete", "namespace", this.namespace, "--wait=false"]);
    await rm(this.#directory, { recursive: true, force: true });
  }
}
