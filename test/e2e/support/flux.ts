import { buildTool, inModuleOf } from "../../../tools/cluster/build/build.ts";
import { freePort } from "../../../tools/cluster/processes/port.ts";
import { type Processes, startProcesses } from "../../../tools/cluster/processes/processes.ts";
import type { TestCluster } from "../../../tools/cluster/use.ts";

const CONTROLLERS = ["source-controller", "kustomize-controller"] as const;
type Name = (typeof CONTROLLERS)[number];

/** Flux: source-controller and kustomize-controller as they are released, as processes of this machine. */
export class Flux {
  readonly #cluster: TestCluster;
  readonly #namespace: string;
  readonly #processes: Processes;

  private constructor(cluster: TestCluster, namespace: string, processes: Processes) {
    this.#cluster = cluster;
    this.#namespace = namespace;
    this.#processes = processes;
  }

  /** Installs the definitions, and starts controllers that look at the objects of Flux in one namespace. */
  static async start(cluster: TestCluster, namespace: string): Promise<Flux> {
    const processes = await startProcesses();
    try {
      const flux = new Flux(cluster, namespace, processes);
      await flux.#start();
      return flux;
    } catch (error) {
      await processes.end();
      throw error;
    }
  }

  async #start(): Promise<void> {
    const definitions = await this.#definitions();
    await this.#cluster.kubectlRun(["apply", "--server-side", ...definitions]);
    await this.#cluster.kubectlRun(["wait", "--for=condition=Established", "--timeout=60s", ...definitions]);
    const storage = `127.0.0.1:${await freePort()}`;
    const path = this.#processes.directory;
    const serving = [`--storage-path=${path}`, `--storage-addr=${storage}`, `--storage-adv-addr=${storage}`];
    await this.#startController("source-controller", serving);
    await this.#startController("kustomize-controller", ["--requeue-dependency=2s"]);
  }

  /** Deletes the objects of Flux while the controllers run, because these take the finalizers off. */
  async stop(): Promise<void> {
    const objects = ["kustomization,gitrepository", "--all", "--namespace", this.#namespace];
    await this.#cluster.kubectlRun(["delete", ...objects, "--timeout=60s"]);
    await this.#processes.end();
    await this.#cluster.kubectlRun(["delete", "--ignore-not-found", ...(await this.#definitions())]);
  }

  async lastLines(): Promise<string> {
    const lines = await Promise.all(CONTROLLERS.map((name) => this.#processes.lastLines(name)));
    return lines.join("\n");
  }

  async #startController(name: Name, args: readonly string[]): Promise<void> {
    const { [name]: binary } = await buildTool(name);
    const env = [`KUBECONFIG=${this.#cluster.kubeconfig}`, `RUNTIME_NAMESPACE=${this.#namespace}`];
    const flags = ["--watch-all-namespaces=false", "--log-level=info", "--metrics-addr=0", "--health-addr=127.0.0.1:0"];
    this.#processes.start(name, "/usr/bin/env", [...env, binary as string, ...flags, ...args]);
  }

  async #definitions(): Promise<string[]> {
    const folders = await Promise.all(CONTROLLERS.map((name) => inModuleOf(name, "config/crd/bases")));
    return folders.flatMap((folder) => ["-f", folder]);
  }
}
