import type { Binaries } from "./build/cache.ts";
import { type Files, writeFiles, writeKubeconfig } from "./build/files.ts";
import type { Cluster, StartOptions } from "./cluster.ts";
import { apiServer, type Component, controllerManager, etcd, etcdSocket } from "./components.ts";
import { compactEtcd } from "./etcd.ts";
import { kubectlFor } from "./kubectl.ts";
import { freePort } from "./processes/port.ts";
import { type Endpoint, probe, until } from "./processes/probe.ts";
import { type Processes, startProcesses } from "./processes/processes.ts";

const READY_MS = 300_000;
const PORTS_TRIED = 5;

/** Runs etcd, kube-apiserver and, when it is among the binaries, kube-controller-manager. */
export async function startControlPlane(binaries: Binaries, { onProgress, signal }: StartOptions): Promise<Cluster> {
  const started = performance.now();
  signal?.throwIfAborted();
  const processes = await startProcesses();
  try {
    const plane = new ControlPlane(processes, binaries, await writeFiles(processes.directory), signal);
    await plane.start();
    onProgress?.(`cluster is up at ${plane.url} after ${((performance.now() - started) / 1000).toFixed(1)} s`);
    if (!binaries["kube-controller-manager"]) {
      onProgress?.("without kube-controller-manager nothing is garbage-collected and namespaces stay Terminating");
    }
    return clusterOf(plane, binaries["kubectl"] as string);
  } catch (error) {
    await processes.end();
    throw error;
  }
}

function clusterOf(plane: ControlPlane, kubectl: string): Cluster {
  const { kubeconfig } = plane.files;
  return {
    kubeconfig,
    kubectl,
    url: plane.url,
    kubectlRun: kubectlFor({ kubectl, kubeconfig }),
    stopAPIServer: (signal) => plane.stopAPIServer(signal),
    startAPIServer: () => plane.startAPIServer(),
    compact: () => compactEtcd(etcdSocket(plane.processes.directory)),
    stop: () => plane.processes.end(),
  };
}

class ControlPlane {
  readonly processes: Processes;
  readonly files: Files;
  readonly #binaries: Binaries;
  readonly #signal: AbortSignal | undefined;
  #port = 0;

  constructor(processes: Processes, binaries: Binaries, files: Files, signal: AbortSignal | undefined) {
    this.processes = processes;
    this.files = files;
    this.#binaries = binaries;
    this.#signal = signal;
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    this.#run(etcd(this.processes.directory));
    await this.#startOnFreePort();
    await writeKubeconfig(this.files, this.url);
    await this.#ready("/readyz");
    // started late: it exits if the API server is not healthy within 10 seconds
    if (this.#binaries["kube-controller-manager"]) this.#run(controllerManager(this.files));
    await this.#ready("/api/v1/namespaces/default");
    if (!this.#binaries["kube-controller-manager"]) return this.#createDefaultServiceAccount();
    await this.#ready(DEFAULT_SERVICE_ACCOUNT, "kube-controller-manager");
  }

  async stopAPIServer(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    this.processes.signal("kube-apiserver", signal);
    if (signal !== "SIGSTOP") await this.processes.exited("kube-apiserver");
  }

  async startAPIServer(): Promise<void> {
    if (this.processes.isRunning("kube-apiserver")) this.processes.signal("kube-apiserver", "SIGCONT");
    else this.#run(this.#apiServer());
    await this.#ready("/readyz");
  }

  #apiServer(): Component {
    return apiServer(this.processes.directory, this.files, this.#port);
  }

  #run({ name, args }: Component): void {
    this.processes.start(name, this.#binaries[name] as string, args);
  }

  async #startOnFreePort(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      this.#port = await freePort();
      this.#run(this.#apiServer());
      try {
        return await this.#answering();
      } catch (error) {
        const clash = (await this.processes.lastLines("kube-apiserver")).includes("address already in use");
        if (!clash || attempt === PORTS_TRIED) throw error;
      }
    }
  }

  async #answering(): Promise<void> {
    const check = async () => (await probe(this.#endpoint, "/livez")) !== undefined;
    await this.#whileRunning("kube-apiserver", (signal) => until("an answer", check, { timeoutMs: READY_MS, signal }));
  }

  async #ready(path: string, by: Component["name"] = "kube-apiserver"): Promise<void> {
    const check = async () => (await probe(this.#endpoint, path)) === 200;
    await this.#whileRunning(by, (signal) => until(path, check, { timeoutMs: READY_MS, signal }));
  }

  /** Fails when the work fails, or as soon as the process ends, with the last lines of its log. */
  async #whileRunning(name: Component["name"], work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const ended = new AbortController();
    const signal = this.#signal ? AbortSignal.any([ended.signal, this.#signal]) : ended.signal;
    const exit = this.processes.exited(name).then((how) => {
      throw new Error(`${name} ended (${how})`);
    });
    try {
      await Promise.race([work(signal), exit]);
    } catch (error) {
      this.#signal?.throwIfAborted();
      const reason = error instanceof Error ? error.message : String(error);
      const log = await this.processes.lastLines(name);
      throw new Error(`${name} failed to start: ${reason}\n${log}`, { cause: error });
    } finally {
      ended.abort();
      exit.catch(() => undefined);
    }
  }

  async #createDefaultServiceAccount(): Promise<void> {
    const run = kubectlFor({ kubectl: this.#binaries["kubectl"] as string, kubeconfig: this.files.kubeconfig });
    await run(["create", "serviceaccount", "default", "--namespace=default"]);
  }

  get #endpoint(): Endpoint {
    return { url: this.url, certificate: this.files.certificate, token: this.files.adminToken };
  }
}

const DEFAULT_SERVICE_ACCOUNT = "/api/v1/namespaces/default/serviceaccounts/default";
