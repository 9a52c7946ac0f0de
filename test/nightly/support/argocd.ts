import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildTool, inModuleOf } from "../../../tools/cluster/build/build.ts";
import { freePort } from "../../../tools/cluster/processes/port.ts";
import { type Processes, startProcesses } from "../../../tools/cluster/processes/processes.ts";
import type { TestCluster } from "../../../tools/cluster/use.ts";
import { debianPrograms, howToGet, librariesOf, type Programs } from "../../../tools/shared/debian.ts";
import type { KubeJSON } from "../../../tools/shared/objects.ts";

const REDIS = "redis-server";
const CONTROLLER = "argocd-application-controller";
const REPOSITORIES = "argocd-repo-server";
const SERVER = "argocd-server";
const START_MS = 120_000;
const POLL_MS = 200;

const part = (kind: string, name: string) => ({
  apiVersion: "v1",
  kind,
  metadata: { name, labels: { "app.kubernetes.io/part-of": "argocd", "app.kubernetes.io/name": name } },
});

/** What an installation has, without any setting. */
const SETTINGS = {
  apiVersion: "v1",
  kind: "List",
  items: [part("ConfigMap", "argocd-cm"), part("ConfigMap", "argocd-rbac-cm"), part("Secret", "argocd-secret")],
};

/** Redis, in any version. See `debianPrograms` for where it comes from. */
export const redisPrograms = (): Promise<Programs<typeof REDIS> | undefined> =>
  debianPrograms(REDIS, [REDIS], { libraries: true });

/** For the name of tests that are skipped. */
export const withoutRedis = `skipped, because Redis is missing: ${howToGet(REDIS)}`;

/** One object of an application, as the user interface shows it. */
export interface Node {
  readonly group?: string;
  readonly version: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly parentRefs?: readonly { readonly kind: string; readonly name: string }[];
  readonly health?: { readonly status: string; readonly message?: string };
}

/** An action that the user interface offers. */
export interface Action {
  readonly name: string;
  readonly disabled?: boolean;
}

/** Argo CD: application controller, repository server and API server as they are released, and their Redis. */
export class ArgoCD {
  readonly #cluster: TestCluster;
  readonly #namespace: string;
  readonly #processes: Processes;
  #url = "";

  private constructor(cluster: TestCluster, namespace: string, processes: Processes) {
    this.#cluster = cluster;
    this.#namespace = namespace;
    this.#processes = processes;
  }

  /** Installs the definitions, and starts all programs. They look at the applications of one namespace, which exists. */
  static async start(cluster: TestCluster, namespace: string, redis: string): Promise<ArgoCD> {
    const processes = await startProcesses();
    try {
      const argocd = new ArgoCD(cluster, namespace, processes);
      await argocd.#start(redis);
      return argocd;
    } catch (error) {
      console.error(await argocdLines(processes));
      await processes.end();
      throw error;
    }
  }

  /** Deletes the applications while the controller runs, because this takes the finalizers off. */
  async stop(): Promise<void> {
    await this.#cluster.kubectlRun(["delete", "applications", "--all", "-n", this.#namespace, "--timeout=120s"]);
    await this.#processes.end();
    await this.#cluster.kubectlRun(["delete", "--ignore-not-found", ...(await definitions())]);
  }

  lastLines(): Promise<string> {
    return argocdLines(this.#processes);
  }

  /** Everything that an application has, and what hangs from that. */
  async tree(application: string): Promise<Node[]> {
    return (await this.#request("GET", `${application}/resource-tree`)).nodes ?? [];
  }

  async actions(application: string, node: Node): Promise<Action[]> {
    return (await this.#request("GET", `${application}/resource/actions?${identityOf(node)}`)).actions ?? [];
  }

  /** Does what the user interface does when somebody chooses the action. */
  async act(application: string, node: Node, action: string): Promise<void> {
    const { namespace, name, version, group, kind } = node;
    const body = { name: application, namespace, resourceName: name, version, group, kind, action };
    await this.#request("POST", `${application}/resource/actions/v2`, body);
  }

  async #request(method: string, path: string, body?: object): Promise<KubeJSON> {
    const response = await fetch(`${this.#url}/api/v1/applications/${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }

  async #start(redisServer: string): Promise<void> {
    await this.#cluster.kubectlRun(["apply", "--server-side", ...(await definitions())]);
    await this.#cluster.kubectlRun(["wait", "--for=condition=Established", "--timeout=60s", ...(await definitions())]);
    await this.#cluster.kubectlRun(["apply", "-n", this.#namespace, "-f", "-"], { input: JSON.stringify(SETTINGS) });
    const [redis, repositories, server] = await Promise.all([this.#redis(redisServer), address(), address()]);
    this.#url = `http://${server}`;
    const shared = ["--redis", redis, "--loglevel", "info", "--logformat", "text"];
    const api = ["--kubeconfig", this.#cluster.kubeconfig, "--namespace", this.#namespace];
    const client = ["--repo-server", repositories, "--repo-server-plaintext"];
    await this.#launch(REPOSITORIES, [...shared, ...listening(repositories), "--disable-tls", ...(await metrics())]);
    // it writes the Secret and the project that the controller needs, so it is the first
    const open = ["--insecure", "--disable-auth"];
    await this.#launch(SERVER, [...shared, ...api, ...client, ...listening(server), ...open, ...(await metrics())]);
    await this.#answers();
    // by itself it looks at each application every two minutes, and here only when it is told
    const [, metricsPort = ""] = (await metrics()).slice(-2);
    const often = ["--app-resync", "0", "--self-heal-backoff-timeout-seconds", "1"];
    await this.#launch(CONTROLLER, [...shared, ...api, ...client, ...often, "--metrics-port", metricsPort]);
  }

  async #launch(name: string, args: readonly string[]): Promise<void> {
    const { argocd } = await buildTool("argocd");
    const { directory } = this.#processes;
    const temporary = join(directory, `${name}.tmp`);
    await mkdir(temporary);
    const settings = {
      HOME: temporary,
      TMPDIR: temporary,
      ARGOCD_ASK_PASS_SOCK: join(temporary, "ask"),
      ARGOCD_GPG_ENABLED: "false",
      // in place of the token of a pod
      ARGOCD_FAKE_IN_CLUSTER: "true",
      KUBECONFIG: this.#cluster.kubeconfig,
    };
    const env = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
    this.#processes.start(name, "/usr/bin/env", [...env, argocd as string, name, ...args]);
  }

  async #redis(program: string): Promise<string> {
    const port = await freePort();
    const flags = ["--bind", "127.0.0.1", "--port", String(port), "--save", "", "--dir", this.#processes.directory];
    const libraries = `LD_LIBRARY_PATH=${(await librariesOf(program)).join(":")}`;
    this.#processes.start(REDIS, "/usr/bin/env", [libraries, program, ...flags]);
    return `127.0.0.1:${port}`;
  }

  async #answers(): Promise<void> {
    const deadline = Date.now() + START_MS;
    while (!(await fetch(`${this.#url}/healthz`).catch(() => undefined))?.ok) {
      if (Date.now() > deadline) throw new Error("The API server of Argo CD does not answer");
      await sleep(POLL_MS);
    }
  }
}

const identityOf = ({ namespace = "", name, version, group = "", kind }: Node): URLSearchParams =>
  new URLSearchParams({ namespace, resourceName: name, version, group, kind });

const address = async (): Promise<string> => `127.0.0.1:${await freePort()}`;

const listening = (at: string): string[] => ["--address", "127.0.0.1", "--port", at.split(":")[1] as string];

const metrics = async (): Promise<string[]> => [
  "--metrics-address",
  "127.0.0.1",
  "--metrics-port",
  String(await freePort()),
];

async function definitions(): Promise<string[]> {
  const folder = await inModuleOf("argocd", "manifests/crds");
  return ["application", "applicationset", "appproject"].flatMap((name) => ["-f", join(folder, `${name}-crd.yaml`)]);
}

async function argocdLines(processes: Processes): Promise<string> {
  const lines = await Promise.all(
    [REDIS, REPOSITORIES, SERVER, CONTROLLER].map((name) => processes.lastLines(name).catch(() => "")),
  );
  return lines.join("\n");
}
