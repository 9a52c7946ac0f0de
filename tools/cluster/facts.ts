import { execFile } from "node:child_process";
import { request } from "node:http";
import { join } from "node:path";
import { cachedTool, onlyWay } from "./build/obtain.ts";
import { publishedFiles } from "./build/published.ts";
import { ASSETS, type Facts } from "./build/source.ts";
import { pinnedTool } from "./build/tools.ts";
import { isExecutable } from "./kubectl.ts";

const DOCKER_SOCKET = "/var/run/docker.sock";
/** The tools that a cluster is made of. */
export const BINARIES = ["etcd", "kubernetes"] as const;

const PING_MS = 2_000;

export async function factsOfThisMachine(env: NodeJS.ProcessEnv = process.env): Promise<Facts> {
  const [assets, docker, go, published, ...cached] = await Promise.all([
    assetsIn(env["KUBEBUILDER_ASSETS"]),
    dockerAnswers(env["DOCKER_HOST"]),
    hasGo(),
    arePublished(),
    ...BINARIES.map((name) => cachedTool(name, env)),
  ]);
  return {
    testKubeconfig: env["TEST_KUBECONFIG"] || undefined,
    assets,
    docker,
    go,
    published,
    cached: cached.every((binaries) => binaries !== undefined),
    onlyWay: onlyWay(env),
  };
}

async function arePublished(): Promise<boolean> {
  const pinned = await Promise.all(BINARIES.map((name) => pinnedTool(name)));
  return pinned.every((tool) => publishedFiles(tool).length > 0);
}

async function assetsIn(directory: string | undefined): Promise<Facts["assets"]> {
  if (!directory) return undefined;
  const there = await Promise.all(ASSETS.map((name) => isExecutable(join(directory, name))));
  return { directory, present: ASSETS.filter((_, index) => there[index]) };
}

const hasGo = (): Promise<boolean> => new Promise((resolve) => execFile("go", ["version"], (error) => resolve(!error)));

/** Whether Docker answers a ping at DOCKER_HOST, or at its default socket. */
export function dockerAnswers(host = `unix://${DOCKER_SOCKET}`): Promise<boolean> {
  const address = dockerAddress(host);
  if (!address) return Promise.resolve(false);
  return new Promise((resolve) => {
    const ping = request({ ...address, path: "/_ping", timeout: PING_MS }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    ping.once("timeout", () => ping.destroy());
    ping.once("error", () => resolve(false));
    ping.once("close", () => resolve(false));
    ping.end();
  });
}

function dockerAddress(host: string): { socketPath: string } | { host: string; port: string } | undefined {
  if (!URL.canParse(host)) return undefined;
  const { protocol, pathname, hostname, port } = new URL(host);
  if (protocol === "unix:") return { socketPath: pathname };
  if (protocol === "tcp:" || protocol === "http:") return { host: hostname, port: port || "2375" };
  return undefined;
}
