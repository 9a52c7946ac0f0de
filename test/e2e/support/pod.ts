import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubectlRun } from "../../../tools/cluster/kubectl.ts";
import { freePort } from "../../../tools/cluster/processes/port.ts";
import { Child } from "../../../tools/shared/child.ts";
import { kubeconfigFor } from "../../../tools/shared/kubeconfig.ts";
import type { KubeJSON } from "../../../tools/shared/objects.ts";
import { OPERATOR } from "../../../tools/shared/operator.ts";
import { ownImage } from "../../support/image.ts";
import { refusalsOf, type Sources } from "../../support/pod-rules.ts";

export interface PodOptions {
  kubectl: KubectlRun;
  /** The address of the API server, or of a proxy to it. */
  server: string;
  namespace: string;
  /** The rendered spec of a Deployment, a Job or a Pod. */
  spec: KubeJSON;
}

/** A pod that no node would run. The message has the rules that it breaks. */
export class PodRefused extends Error {
  override readonly name = "PodRefused";
}

const PROBE_MS = 5000;

/** Kubernetes gives 30 seconds to a pod that does not say. */
const graceMsOf = ({ terminationGracePeriodSeconds = 30 }: KubeJSON): number => terminationGracePeriodSeconds * 1000;

/** With a read-only root, a program that writes to a file ends as it would in a container. */
const READ_ONLY = ["--permission", "--allow-fs-read=*"];

/**
 * Stands in for a kubelet, which the test cluster lacks. Runs the only container of a rendered pod as a process, with
 * its arguments, environment, Secret volumes and the token of its ServiceAccount, so that RBAC applies. Only its ports
 * differ, so that tests can run side by side. Refuses what a node refuses.
 */
export class Pod implements AsyncDisposable {
  readonly #options: PodOptions;
  readonly #directory: string;
  readonly #port: number;
  #child: Child | undefined;

  private constructor(options: PodOptions, directory: string, port: number) {
    this.#options = options;
    this.#directory = directory;
    this.#port = port;
  }

  /** @throws PodRefused */
  static async start(options: PodOptions): Promise<Pod> {
    const refusals = refusalsOf(options.spec, { image: await ownImage(), ...(await sourcesIn(options)) });
    if (refusals.length > 0) throw new PodRefused(refusals.join("\n"));
    const pod = new Pod(options, await mkdtemp(join(tmpdir(), "pod-")), await freePort());
    await pod.syncVolumes();
    await pod.#spawn();
    return pod;
  }

  /** All lines that it has printed so far. */
  get lines(): readonly string[] {
    return this.#running.lines;
  }

  get output(): string {
    return this.lines.join("\n");
  }

  get isRunning(): boolean {
    return this.#running.isRunning;
  }

  /** How it ended: its exit code or signal, in words. */
  get how(): string {
    return this.#running.how;
  }

  /** As a node reports it: 137 when a signal ended it. Call it when it does not run any more. */
  get exitCode(): number {
    return this.#running.exitCode ?? 137;
  }

  /** Whether its readiness probe succeeds. */
  async isReady({ readinessProbe }: KubeJSON): Promise<boolean> {
    if (!readinessProbe) return true;
    const url = `http://127.0.0.1:${this.#port}${readinessProbe.httpGet.path}`;
    return fetch(url, { signal: AbortSignal.timeout(PROBE_MS) }).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  /** Updates the files of Secret volumes, as a kubelet does within a minute. */
  async syncVolumes(): Promise<void> {
    for (const { name, secret } of this.#options.spec.volumes ?? []) {
      // This is the token, which is in the kubeconfig.
      if (!secret) continue;
      const folder = join(this.#directory, name);
      await mkdir(folder, { recursive: true });
      const data = await this.#secret(secret);
      for (const { key, path } of secret.items) {
        if (data[key]) await replaceFile(join(folder, path), Buffer.from(data[key], "base64"));
        else await rm(join(folder, path), { force: true });
      }
    }
  }

  async #secret({ secretName, optional }: KubeJSON): Promise<Record<string, string>> {
    const { kubectl, namespace } = this.#options;
    const args = ["get", "secret", secretName, "-n", namespace, "-o", "json"];
    const { code, stdout } = await kubectl(args, { allowFailure: true });
    if (code === 0) return JSON.parse(stdout).data ?? {};
    if (optional) return {};
    throw new Error(`Secret ${secretName} is missing`);
  }

  /** Resolves when a line contains the text. Rejects if the process ends first. */
  async said(text: string): Promise<void> {
    await this.#running.said(text);
  }

  /** Resolves with the exit code. */
  ended(): Promise<number | null> {
    return this.#running.exited();
  }

  /** Asks it to end, and kills it when its grace period is over. */
  async stop(): Promise<void> {
    const ended = this.#running.stop();
    const kill = setTimeout(() => this.#running.signal("SIGKILL"), graceMsOf(this.#options.spec));
    await ended.finally(() => clearTimeout(kill));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running.stop("SIGKILL");
    await rm(this.#directory, { recursive: true, force: true });
  }

  get #running(): Child {
    if (!this.#child) throw new Error("Not started");
    return this.#child;
  }

  async #spawn(): Promise<void> {
    const [container] = this.#options.spec.containers;
    const paths = { PATH: process.env["PATH"], KUBECONFIG: await this.#kubeconfig() };
    const nodeFlags = container.securityContext?.readOnlyRootFilesystem ? READ_ONLY : [];
    const env = { ...paths, ...this.#environment(container) };
    this.#child = new Child(OPERATOR, { args: container.args, nodeFlags, env });
  }

  #environment({ env = [], volumeMounts = [] }: KubeJSON): Record<string, string> {
    const values = env.map(({ name, value, valueFrom }: KubeJSON) => {
      if (name === "METRICS_ADDRESS") return [name, `127.0.0.1:${this.#port}`];
      if (valueFrom) return [name, this.#fieldOf(valueFrom.fieldRef.fieldPath)];
      const mount = volumeMounts.find(({ mountPath }: KubeJSON) => value.startsWith(`${mountPath}/`));
      return [name, mount ? value.replace(mount.mountPath, join(this.#directory, mount.name)) : value];
    });
    return Object.fromEntries(values);
  }

  #fieldOf(path: string): string {
    if (path !== "metadata.namespace") throw new Error(`No test has met the field ${path} before`);
    return this.#options.namespace;
  }

  async #kubeconfig(): Promise<string> {
    const { kubectl, namespace, server, spec } = this.#options;
    const { stdout: token } = await kubectl(["create", "token", spec.serviceAccountName, "-n", namespace]);
    const path = join(this.#directory, "kubeconfig");
    const text = kubeconfigFor({ server, skipsTLSVerification: true, token: token.trim() });
    await writeFile(path, text, { mode: 0o600 });
    return path;
  }
}

/** What pods of the namespace can refer to. */
async function sourcesIn({ kubectl, namespace }: PodOptions): Promise<Sources> {
  const { stdout } = await kubectl(["get", "secrets,configmaps", "-n", namespace, "-o", "json"]);
  const items: KubeJSON[] = JSON.parse(stdout).items;
  const keysOf = (kind: string) =>
    items
      .filter((item) => item.kind === kind)
      .map(({ metadata, data, binaryData }) => [metadata.name, Object.keys({ ...data, ...binaryData })]);
  return {
    secrets: Object.fromEntries(keysOf("Secret")),
    configMaps: Object.fromEntries(keysOf("ConfigMap")),
  };
}

/** Replaces the file in one step, so that a reader gets the old or the new content. */
async function replaceFile(path: string, content: Buffer): Promise<void> {
  await writeFile(`${path}.new`, content);
  await rename(`${path}.new`, path);
}
