import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "yaml";
import type { Cluster } from "../../../tools/cluster/cluster.ts";
import { startCluster } from "../../../tools/cluster/start.ts";
import { exampleRoutes } from "../../../tools/shared/examples.ts";
import type { KubeJSON } from "../../../tools/shared/objects.ts";
import { type Simulator, startSimulator } from "../../../tools/simulator/simulator.ts";
import { chart, type Helm, helmFor, objectsIn, set, succeeded } from "./helm.ts";
import { Pod } from "./pod.ts";
import { type RecordingProxy, startRecordingProxy } from "./recording-proxy.ts";

type Values = Readonly<Record<string, string | number | boolean>>;

/** A cluster without our kinds, an account, and a Helm. A cluster of its own, since a release may watch all of it. */
export class Installation implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly simulator: Simulator;
  readonly helm: Helm;
  /** The proxy between the operator and the API server. */
  readonly proxy: RecordingProxy;
  /** The proxy between the hooks of the chart and the API server. */
  readonly hooks: RecordingProxy;
  /** A folder of its own, removed at the end. */
  readonly home: string;

  private constructor(parts: Pick<Installation, "cluster" | "simulator" | "helm" | "proxy" | "hooks">, home: string) {
    this.cluster = parts.cluster;
    this.simulator = parts.simulator;
    this.helm = parts.helm;
    this.proxy = parts.proxy;
    this.hooks = parts.hooks;
    this.home = home;
  }

  static async start(): Promise<Installation> {
    const cluster = await startCluster();
    const home = await mkdtemp(join(tmpdir(), "helm-"));
    const [simulator, helm, proxy, hooks] = await Promise.all([
      startSimulator({ certificates: { provisionMs: 200 }, routes: await exampleRoutes() }),
      helmFor({ home, kubeconfig: cluster.kubeconfig }),
      startRecordingProxy(cluster.url),
      startRecordingProxy(cluster.url),
    ]);
    return new Installation({ cluster, simulator, helm, proxy, hooks }, home);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.proxy, this.hooks].map((proxy) => proxy[Symbol.asyncDispose]()));
    await this.simulator.stop();
    await this.cluster.stop();
    await rm(this.home, { recursive: true, force: true });
  }

  release(name: string, namespace: string): Release {
    return new Release(this, name, namespace);
  }

  kubectl = async (...args: string[]): Promise<string> => (await this.cluster.kubectlRun(args)).stdout;

  /** Applies objects to this namespace, unless they name their own. */
  async apply(namespace: string | undefined, ...objects: object[]): Promise<void> {
    const input = objects.map((object) => stringify(object)).join("\n---\n");
    const where = namespace ? ["--namespace", namespace] : [];
    await this.cluster.kubectlRun(["apply", "--server-side", ...where, "-f", "-"], { input });
  }

  /** All objects of our kinds. */
  async objects(namespace: string): Promise<KubeJSON[]> {
    return JSON.parse(await this.kubectl("get", "tunnelgateway", "-n", namespace, "-o", "json")).items;
  }

  async get(...args: string[]): Promise<KubeJSON> {
    return JSON.parse(await this.kubectl("get", ...args, "-o", "json"));
  }

  /** The number of requests to the service that were not GETs. */
  changesSent(): number {
    return this.simulator.control.requests().filter(({ method }) => method !== "GET").length;
  }
}

/** A Helm release, and the pods that it would run. */
export class Release {
  readonly name: string;
  readonly namespace: string;
  readonly #in: Installation;

  constructor(installation: Installation, name: string, namespace: string) {
    this.#in = installation;
    this.name = name;
    this.namespace = namespace;
  }

  /** Prints what Helm prints. */
  install(values: Values = {}): Promise<string> {
    return this.#run("install", this.name, chart, "--create-namespace", ...this.#set(values));
  }

  upgrade(values: Values): Promise<string> {
    return this.#run("upgrade", this.name, chart, "--reset-then-reuse-values", ...this.#set(values));
  }

  rollback(): Promise<string> {
    return this.#run("rollback", this.name);
  }

  /** Uninstalls without hooks, since no kubelet runs them; see `hook`. */
  uninstall(): Promise<string> {
    return this.#run("uninstall", this.name, "--no-hooks");
  }

  /** Runs the operator as the Deployment says. Resolves when it is started. */
  async operator(): Promise<Pod> {
    const pod = await this.startOperator();
    await pod.said('"msg":"Started"');
    return pod;
  }

  /** Like `operator`, but does not wait for the start. */
  async startOperator(): Promise<Pod> {
    const { spec } = await this.#in.get("deployment", `${this.name}-tunnel-gateway-operator`, "-n", this.namespace);
    return this.#pod(spec.template.spec, this.#in.proxy.url);
  }

  /** Runs the pod of `helm test`. */
  async doctor(): Promise<Pod> {
    const hooks = await this.#hooks();
    return this.#pod(hooks.find(({ kind }) => kind === "Pod").spec);
  }

  /** Runs the Job that `helm uninstall` would run first, with the rights that Helm would create. */
  async uninstallJob(): Promise<Pod> {
    const hooks = (await this.#hooks()).filter(({ metadata }) => metadata.annotations["helm.sh/hook"] === "pre-delete");
    const job = hooks.find(({ kind }) => kind === "Job");
    await this.#in.apply(undefined, ...hooks.filter((hook) => hook !== job));
    return this.#pod(job.spec.template.spec);
  }

  async #hooks(): Promise<KubeJSON[]> {
    return objectsIn(await this.#run("get", "hooks", this.name));
  }

  #pod(spec: KubeJSON, server = this.#in.hooks.url): Promise<Pod> {
    return Pod.start({ kubectl: this.#in.cluster.kubectlRun, server, namespace: this.namespace, spec });
  }

  #run(...args: string[]): Promise<string> {
    return succeeded(this.#in.helm(...args, "--namespace", this.namespace));
  }

  #set(values: Values): string[] {
    return set({ "gateway.baseURL": this.#in.simulator.url, ...values });
  }
}

/** Asks until the answer is true. */
export async function until(what: string, isSo: () => Promise<boolean>, seconds = 60): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`Not within ${seconds} s: ${what}`);
    await sleep(200);
  }
}
