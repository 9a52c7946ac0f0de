import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Cluster, StartOptions } from "./cluster.ts";
import { anyKubectl } from "./existing.ts";
import { kubectlFor } from "./kubectl.ts";
import { startProcesses } from "./processes/processes.ts";

const IMAGE = "rancher/k3s:v1.35.4-k3s1";

/** A cluster in a Docker container, which testcontainers removes when this process ends. */
export async function startK3s(options: StartOptions): Promise<Cluster> {
  const { K3sContainer } = await import("@testcontainers/k3s");
  const kubectl = await anyKubectl(options);
  options.onProgress?.(`starting ${IMAGE} with Docker`);
  const container = await new K3sContainer(IMAGE).start();
  const processes = await startProcesses();
  const stop = async () => {
    await Promise.all([container.stop(), processes.end()]);
  };
  try {
    options.signal?.throwIfAborted();
    const kubeconfig = join(processes.directory, "kubeconfig");
    await writeFile(kubeconfig, container.getKubeConfig(), { mode: 0o600 });
    const kubectlRun = kubectlFor({ kubectl, kubeconfig });
    await kubectlRun(["wait", "--for=create", "serviceaccount/default", "--namespace=default", "--timeout=60s"]);
    const url = `https://${container.getHost()}:${container.getMappedPort(6443)}`;
    options.onProgress?.(`cluster is up at ${url}`);
    return { kubeconfig, kubectl, url, kubectlRun, stop: once(stop) };
  } catch (error) {
    await stop();
    throw error;
  }
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
