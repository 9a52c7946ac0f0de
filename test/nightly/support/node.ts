import { mkdir, readFile, writeFile } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { buildTool } from "../../../tools/cluster/build/build.ts";
import type { Binaries } from "../../../tools/cluster/build/cache.ts";
import { freePort } from "../../../tools/cluster/processes/port.ts";
import { type Processes, startProcesses } from "../../../tools/cluster/processes/processes.ts";
import type { TestCluster } from "../../../tools/cluster/use.ts";
import { buildImages, PAUSE } from "./image.ts";
import type { NodePrograms } from "./node-programs.ts";

const BRIDGE = "tgo-node";
const PODS = "10.85.0.0/24";
/** The address of the node, at which its pods reach what listens there. */
export const NODE_ADDRESS = "10.85.0.1";
/** The first address of Services, at which every pod looks for the API server. */
const API_ADDRESS = "10.0.0.1";
/** An address, because the API server calls a kubelet by the name of its node. */
const NAME = NODE_ADDRESS;

/**
 * A node as clusters have them: scheduler, kubelet, containerd and runc as they are released, and a bridge for its pods.
 * A forwarder takes the place of kube-proxy: it listens at the address of the API server.
 */
export class RealNode {
  readonly #programs: NodePrograms;
  readonly #processes: Processes;
  readonly #forwarder: Server;

  private constructor(programs: NodePrograms, processes: Processes, forwarder: Server) {
    this.#programs = programs;
    this.#processes = processes;
    this.#forwarder = forwarder;
  }

  /** Resolves when the node is ready for pods of the image, which is built. */
  static async start(cluster: TestCluster, programs: NodePrograms): Promise<RealNode> {
    const binaries = await buildTool("node");
    const node = new RealNode(programs, await startProcesses(), forwarderTo(new URL(cluster.url)));
    try {
      await node.#connect();
      await node.#startContainerd();
      await node.#startKubelet(cluster, binaries);
      return node;
    } catch (error) {
      console.error(await node.lastLines());
      await node.stop();
      throw error;
    }
  }

  /** Kills the containers that are left, and takes back what the machine has got. */
  async stop(): Promise<void> {
    await this.#end("kubelet");
    await this.#end("kube-scheduler");
    const tasks = await this.#ctr("tasks", "list", "--quiet").catch(() => "");
    for (const task of tasks.split("\n").filter(Boolean)) await this.#ctr("tasks", "rm", "--force", task).catch(String);
    await this.#end("containerd");
    await this.#unmount();
    this.#forwarder.close();
    await this.#disconnect();
    await this.#processes.end();
  }

  async lastLines(): Promise<string> {
    const names = ["containerd", "kube-scheduler", "kubelet"];
    const lines = names.map(async (name) => `${name}:\n${await this.#processes.lastLines(name).catch(String)}`);
    return (await Promise.all(lines)).join("\n");
  }

  async #disconnect(): Promise<void> {
    await this.#ip("link", "delete", BRIDGE).catch(String);
    await this.#ip("address", "delete", `${API_ADDRESS}/32`, "dev", "lo").catch(String);
  }

  async #connect(): Promise<void> {
    // what a run that was killed has left
    await this.#disconnect();
    await this.#ip("link", "add", BRIDGE, "type", "bridge");
    await this.#ip("address", "add", `${NODE_ADDRESS}/24`, "dev", BRIDGE);
    await this.#ip("link", "set", BRIDGE, "up");
    await this.#ip("address", "add", `${API_ADDRESS}/32`, "dev", "lo");
    await new Promise<void>((resolve, reject) => {
      this.#forwarder.once("error", reject).listen(443, API_ADDRESS, resolve);
    });
  }

  async #startContainerd(): Promise<void> {
    const networks = join(this.#processes.directory, "cni");
    await mkdir(networks);
    await writeFile(join(networks, "10-pods.conflist"), JSON.stringify(network));
    const config = await this.#write("containerd.toml", [
      "version = 2",
      `root = "${this.#file("containerd")}"`,
      `state = "${this.#file("containers")}"`,
      `[grpc]\naddress = "${this.#socket}"`,
      `[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "${PAUSE}"`,
      // for a machine that is a container itself, which may not spare a process from being killed for memory
      "restrict_oom_score_adj = true",
      `[plugins."io.containerd.grpc.v1.cri".cni]\nbin_dir = "${this.#programs.networks}"\nconf_dir = "${networks}"`,
    ]);
    this.#start("containerd", this.#programs.path("containerd"), ["--config", config]);
    const archives = await buildImages(this.#programs, this.#processes.directory);
    for (const archive of archives) await this.#ctr("images", "import", archive);
  }

  async #startKubelet({ kubeconfig, kubectlRun }: TestCluster, binaries: Binaries): Promise<void> {
    const config = await this.#write("kubelet.yaml", [
      "apiVersion: kubelet.config.k8s.io/v1beta1",
      "kind: KubeletConfiguration",
      `address: ${NODE_ADDRESS}`,
      `port: ${await freePort()}`,
      "healthzPort: 0",
      `containerRuntimeEndpoint: unix://${this.#socket}`,
      "authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}",
      "authorization: {mode: AlwaysAllow}",
      "cgroupDriver: cgroupfs",
      // the cgroups of the machine stay as they are; each container has one of its own
      "cgroupsPerQOS: false",
      "enforceNodeAllocatable: []",
      "failCgroupV1: false",
      "failSwapOn: false",
      "imageGCHighThresholdPercent: 100",
      "localStorageCapacityIsolation: false",
      "resolvConf: /etc/resolv.conf",
      'evictionHard: {memory.available: "0%", nodefs.available: "0%", imagefs.available: "0%"}',
    ]);
    this.#start("kubelet", binaries["kubelet"] as string, [
      ...[`--kubeconfig=${kubeconfig}`, `--config=${config}`, `--root-dir=${this.#file("kubelet")}`],
      ...[
        `--hostname-override=${NAME}`,
        `--node-ip=${NODE_ADDRESS}`,
        `--cert-dir=${this.#file("kubelet-certificates")}`,
      ],
    ]);
    const settings = [`--kubeconfig=${kubeconfig}`, "--leader-elect=false", "--secure-port=0"];
    this.#start("kube-scheduler", binaries["kube-scheduler"] as string, settings);
    await kubectlRun(["wait", "--for=create", `node/${NAME}`, "--timeout=120s"]);
    await kubectlRun(["wait", "--for=condition=Ready", `node/${NAME}`, "--timeout=120s"]);
  }

  /** With the variables that programs of packages need. */
  #start(name: string, file: string, args: readonly string[]): void {
    const variables = Object.entries(this.#programs.env).map(([variable, value]) => `${variable}=${value}`);
    this.#processes.start(name, "/usr/bin/env", [...variables, file, ...args]);
  }

  async #end(name: string): Promise<void> {
    this.#processes.signal(name, "SIGTERM");
    await this.#processes.exited(name);
  }

  /** Else the folder of the processes could not be removed. */
  async #unmount(): Promise<void> {
    const mounts = (await readFile("/proc/self/mounts", "utf8")).split("\n").map((line) => line.split(" ")[1] ?? "");
    const own = mounts.filter((mount) => mount.startsWith(`${this.#processes.directory}/`));
    for (const mount of own.reverse()) await this.#programs.run("umount", ["--lazy", mount]).catch(String);
  }

  #file(name: string): string {
    return join(this.#processes.directory, name);
  }

  get #socket(): string {
    return this.#file("containerd.sock");
  }

  async #write(name: string, lines: readonly string[]): Promise<string> {
    await writeFile(this.#file(name), `${lines.join("\n")}\n`);
    return this.#file(name);
  }

  async #ctr(...args: string[]): Promise<string> {
    return (await this.#programs.run("ctr", ["--address", this.#socket, "--namespace", "k8s.io", ...args])).stdout;
  }

  async #ip(...args: string[]): Promise<void> {
    await this.#programs.run("ip", args);
  }
}

const network = {
  cniVersion: "0.4.0",
  name: "pods",
  plugins: [
    {
      type: "bridge",
      bridge: BRIDGE,
      isGateway: true,
      ipam: { type: "host-local", ranges: [[{ subnet: PODS }]], routes: [{ dst: "0.0.0.0/0" }] },
    },
  ],
};

function forwarderTo({ hostname, port }: URL): Server {
  return createServer((from) => {
    const to = connect(Number(port), hostname);
    from.pipe(to).pipe(from);
    for (const socket of [from, to])
      socket.on("error", () => undefined).on("close", () => [from, to].forEach((one) => void one.destroy()));
  });
}
