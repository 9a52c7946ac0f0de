import { join } from "node:path";
import type { Binaries } from "./build/cache.ts";
import { obtainTool } from "./build/obtain.ts";
import { ASSETS, type Source, sourcesOn } from "./build/source.ts";
import type { Cluster, StartOptions } from "./cluster.ts";
import { startControlPlane } from "./control-plane.ts";
import { existingCluster } from "./existing.ts";
import { BINARIES, factsOfThisMachine } from "./facts.ts";
import { startK3s } from "./k3s.ts";

/**
 * Starts a cluster from the best source that this machine has: TEST_KUBECONFIG, KUBEBUILDER_ASSETS, binaries in the
 * user's cache folder, Docker, published binaries, or a build with Go. The build takes minutes, once: what was downloaded or
 * built is kept in the cache folder.
 *
 * Nothing of the cluster outlives this process, even if it is killed.
 *
 * @throws with what to install when there is no source, or with the last lines of the log when a component fails.
 */
export async function startCluster(options: StartOptions = {}): Promise<Cluster> {
  return startFirst(sourcesOn(await factsOfThisMachine()), options);
}

async function startFirst([source, ...others]: [Source, ...Source[]], options: StartOptions): Promise<Cluster> {
  try {
    return await startFrom(source, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    const [next, ...rest] = others;
    if (!next || !needsDownload(source)) throw error;
    options.onProgress?.(`no cluster from ${source.from}, going on with ${next.from}: ${error}`);
    return startFirst([next, ...rest], options);
  }
}

/** Docker may be unable to pull the image, and neither binaries nor modules may be had. Then the next source is tried. */
const needsDownload = ({ from }: Source): boolean => from === "docker" || from === "binaries";

async function startFrom(source: Source, options: StartOptions): Promise<Cluster> {
  switch (source.from) {
    case "kubeconfig":
      return existingCluster(source.path, options);
    case "assets":
      return startControlPlane(assetsIn(source.directory, source.controllerManager), options);
    case "docker":
      return startK3s(options);
    case "binaries":
      return startControlPlane(await obtained(options), options);
  }
}

async function obtained(options: StartOptions): Promise<Binaries> {
  let all: Binaries = {};
  for (const name of BINARIES) all = { ...all, ...(await obtainTool(name, options)) };
  return all;
}

function assetsIn(directory: string, controllerManager: boolean): Binaries {
  const names = ASSETS.filter((name) => controllerManager || name !== "kube-controller-manager");
  return Object.fromEntries(names.map((name) => [name, join(directory, name)]));
}
