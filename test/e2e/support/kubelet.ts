import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { KubeClient } from "../../../src/runtime/connection/client.ts";
import { loadConnection } from "../../../src/runtime/connection/kubeconfig.ts";
import { type Method, Transport } from "../../../src/runtime/connection/transport.ts";
import type { ResourceType } from "../../../src/runtime/object.ts";
import type { Cluster } from "../../../tools/cluster/cluster.ts";
import type { KubeJSON } from "../../../tools/shared/objects.ts";
import { selfSigned } from "../../../tools/simulator/certificates/self-signed.ts";
import { Pod, PodRefused } from "./pod.ts";

const NODE = "node";
const LOOK_MS = 200;
const HEARTBEAT_MS = 5000;
const VOLUMES_MS = 1000;
const REFUSED_MS = 2000;

const pods: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod" };
const nodes: ResourceType = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };
const leases: ResourceType = { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" };

/**
 * Stands in for the scheduler and the only node of a cluster that has neither: binds pods, runs them as processes (see
 * `Pod`), reports their status, and serves their logs. A pod that no node would run waits, and its status says why. So Deployments become available and Jobs complete, and Helm and
 * kubectl work as in any cluster. Images are not pulled.
 */
export class Kubelet implements AsyncDisposable {
  readonly #cluster: Cluster;
  readonly #transport: Transport;
  readonly #client: KubeClient;
  readonly #server: string;
  readonly #logs: Server;
  readonly #running = new Map<string, Pod>();
  /** Pods that are being started, probed or stopped. None of them holds up another. */
  readonly #busy = new Map<string, Promise<void>>();
  readonly #outputs = new Map<string, readonly string[]>();
  /** When a pod was refused last, by its uid: it is tried again, because what it lacks may come. */
  readonly #refused = new Map<string, number>();
  #ended = false;
  #loops: Promise<unknown> = Promise.resolve();

  private constructor(cluster: Cluster, server: string) {
    this.#cluster = cluster;
    this.#server = server;
    this.#transport = new Transport(loadConnection({ kubeconfig: cluster.kubeconfig }), { userAgent: "kubelet" });
    this.#client = new KubeClient(this.#transport, { fieldManager: "kubelet" });
    const { certificatePem: cert, privateKeyPem: key } = selfSigned({ commonName: NODE, ips: ["127.0.0.1"] });
    this.#logs = createServer({ cert, key }, ({ url = "" }, answer) => {
      const [, namespace, name] = new URL(url, "https://any").pathname.split("/").filter(Boolean);
      answer.end(this.#outputs.get(`${namespace}/${name}`)?.join("\n").concat("\n"));
    });
  }

  /** `server`: the address of the API server that pods use. */
  static async start(cluster: Cluster, server = cluster.url): Promise<Kubelet> {
    const kubelet = new Kubelet(cluster, server);
    await kubelet.#register();
    kubelet.#loops = Promise.all([
      kubelet.#every(LOOK_MS, () => kubelet.#look()),
      kubelet.#every(HEARTBEAT_MS, () => kubelet.#beat()),
      kubelet.#every(VOLUMES_MS, () => kubelet.#syncVolumes()),
    ]);
    return kubelet;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true;
    await this.#loops;
    await Promise.all(this.#busy.values());
    await Promise.all([...this.#running.values()].map((pod) => pod[Symbol.asyncDispose]()));
    this.#logs.close();
    await this.#transport.close();
  }

  /** The output of all pods, including those that are gone. */
  get output(): string {
    return [...this.#outputs].map(([name, lines]) => `${name}:\n${lines.slice(-20).join("\n")}`).join("\n");
  }

  async #every(milliseconds: number, work: () => Promise<void>): Promise<void> {
    while (!this.#ended) {
      // A change by another client in the meantime is seen in the next round.
      await work().catch(() => undefined);
      await sleep(milliseconds);
    }
  }

  async #register(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#logs.listen(0, "127.0.0.1", resolve);
    });
    await this.#client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: NODE } });
    const { port: Port } = this.#logs.address() as AddressInfo;
    const status = {
      addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
      conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", message: "", lastHeartbeatTime: now() }],
      daemonEndpoints: { kubeletEndpoint: { Port } },
    };
    await this.#client.patchMerge(nodes, { name: NODE }, { status }, { subresource: "status" });
  }

  /** Without this, Kubernetes takes the node for lost and its pods for not ready. */
  async #beat(): Promise<void> {
    const renewTime = new Date().toISOString().replace("Z", "000Z");
    await this.#client.apply(leases, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { namespace: "kube-node-lease", name: NODE },
      spec: { holderIdentity: NODE, leaseDurationSeconds: 40, renewTime },
    });
  }

  async #syncVolumes(): Promise<void> {
    await Promise.all([...this.#running.values()].map((pod) => pod.syncVolumes()));
  }

  async #look(): Promise<void> {
    const { items } = await this.#client.listAll<KubeJSON>(pods);
    for (const pod of items) {
      const { uid } = pod.metadata;
      if (this.#busy.has(uid)) continue;
      // A change by another client in the meantime is seen in the next round.
      const seen = this.#see(pod).catch(() => undefined);
      this.#busy.set(
        uid,
        seen.finally(() => this.#busy.delete(uid)),
      );
    }
  }

  async #see(pod: KubeJSON): Promise<void> {
    const { uid, deletionTimestamp } = pod.metadata;
    const process = this.#running.get(uid);
    if (deletionTimestamp) return this.#stop(pod, process);
    if (!pod.spec.nodeName) return this.#bind(pod);
    if (["Succeeded", "Failed"].includes(pod.status.phase)) return;
    if (!process) return this.#run(pod);
    if (process.isRunning) return this.#tell(pod, await process.isReady(pod.spec.containers[0]));
    return this.#tellEnd(pod, process);
  }

  async #bind({ metadata: { namespace, name } }: KubeJSON): Promise<void> {
    const target = { apiVersion: "v1", kind: "Node", name: NODE };
    await this.#send("POST", `/api/v1/namespaces/${namespace}/pods/${name}/binding`, {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { namespace, name },
      target,
    });
  }

  async #run(pod: KubeJSON): Promise<void> {
    const { metadata, spec } = pod;
    if (Date.now() - (this.#refused.get(metadata.uid) ?? 0) < REFUSED_MS) return;
    const { kubectlRun: kubectl } = this.#cluster;
    try {
      const running = await Pod.start({ kubectl, server: this.#server, namespace: metadata.namespace, spec });
      this.#running.set(metadata.uid, running);
      this.#outputs.set(`${metadata.namespace}/${metadata.name}`, running.lines);
    } catch (error) {
      if (!(error instanceof PodRefused)) throw error;
      this.#refused.set(metadata.uid, Date.now());
      this.#outputs.set(`${metadata.namespace}/${metadata.name}`, error.message.split("\n"));
      await this.#patchStatus(pod, "Pending", false, { waiting: { reason: "Refused", message: error.message } });
    }
  }

  async #stop({ metadata: { namespace, name, uid } }: KubeJSON, process: Pod | undefined): Promise<void> {
    if (process?.isRunning) await process.stop();
    await process?.[Symbol.asyncDispose]();
    this.#running.delete(uid);
    const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions: { uid } };
    await this.#send("DELETE", `/api/v1/namespaces/${namespace}/pods/${name}`, body);
  }

  #tell(pod: KubeJSON, ready: boolean): Promise<void> {
    return this.#patchStatus(pod, "Running", ready, { running: { startedAt: pod.metadata.creationTimestamp } });
  }

  #tellEnd(pod: KubeJSON, { exitCode }: Pod): Promise<void> {
    const [phase, reason] = exitCode === 0 ? ["Succeeded", "Completed"] : ["Failed", "Error"];
    const at = { startedAt: pod.metadata.creationTimestamp, finishedAt: now() };
    return this.#patchStatus(pod, phase, false, { terminated: { exitCode, reason, ...at } });
  }

  async #patchStatus(pod: KubeJSON, phase: string, ready: boolean, state: object): Promise<void> {
    const [container] = pod.spec.containers;
    const before = pod.status.containerStatuses?.[0];
    if (pod.status.phase === phase && before?.ready === ready) return;
    const condition = (type: string, holds: boolean) => ({ type, status: holds ? "True" : "False" });
    const status = {
      phase,
      startTime: pod.metadata.creationTimestamp,
      podIPs: [{ ip: "127.0.0.1" }],
      podIP: "127.0.0.1",
      conditions: [
        ...[condition("PodScheduled", true), condition("Initialized", true)],
        ...[condition("ContainersReady", ready), condition("Ready", ready)],
      ],
      containerStatuses: [
        {
          name: container.name,
          image: container.image,
          imageID: "",
          ready,
          restartCount: 0,
          started: phase !== "Pending",
          state,
        },
      ],
    };
    await this.#client.patchMerge(pods, pod.metadata, { status }, { subresource: "status" });
  }

  async #send(method: Method, path: string, body: object): Promise<void> {
    const headers = { "content-type": "application/json" };
    await this.#transport.request({ method, path, headers, body: JSON.stringify(body) });
  }
}

const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, "Z");
