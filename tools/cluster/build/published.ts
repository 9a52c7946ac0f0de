import { basename } from "node:path";
import type { ToolName } from "./tools.ts";

/** A file that a project publishes with its releases. */
export interface PublishedFile {
  /** The name of the binary that it is, or has. */
  readonly binary: string;
  readonly url: string;
  /** Has the SHA-256 of the file: alone, or in a list of names. */
  readonly checksumURL: string;
  /** The path of the binary in the file, if the file is an archive. */
  readonly member?: string | undefined;
}

export interface Servers {
  readonly kubernetes: string;
  readonly etcd: string;
}

export const SERVERS: Servers = {
  kubernetes: "https://dl.k8s.io",
  etcd: "https://github.com/etcd-io/etcd/releases/download",
};

interface Machine {
  readonly platform: NodeJS.Platform;
  readonly arch: NodeJS.Architecture;
}

const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: "amd64", arm64: "arm64" };

/**
 * What is published of a tool for a machine. Kubernetes publishes kubectl for macOS, but no API server and no controller
 * manager. The archives of envtest have an API server for macOS, but only of each first release (v1.35.0), and no
 * controller manager, without which nothing is garbage-collected: there, Kubernetes is built.
 */
export function publishedFiles(
  { name, version }: { readonly name: ToolName; readonly version: string },
  { platform, arch }: Machine = process,
  servers: Servers = SERVERS,
): readonly PublishedFile[] {
  const cpu = ARCHITECTURES[arch];
  if (!cpu || (platform !== "linux" && platform !== "darwin")) return [];
  const kubernetes = (binary: string): PublishedFile => {
    const url = `${servers.kubernetes}/${version}/bin/${platform}/${cpu}/${binary}`;
    return { binary, url, checksumURL: `${url}.sha256` };
  };
  if (name === "kubectl") return [kubernetes("kubectl")];
  if (name === "kubernetes" && platform === "linux") {
    return ["kube-apiserver", "kube-controller-manager", "kubectl"].map(kubernetes);
  }
  if (name !== "etcd") return [];
  const folder = `etcd-${version}-${platform}-${cpu}`;
  const url = `${servers.etcd}/${version}/${folder}.${platform === "linux" ? "tar.gz" : "zip"}`;
  return [{ binary: "etcd", url, checksumURL: `${servers.etcd}/${version}/SHA256SUMS`, member: `${folder}/etcd` }];
}

/** The SHA-256 of a published file, from the text that is published with it. */
export function checksumIn(text: string, { url, checksumURL }: PublishedFile): string {
  for (const line of text.split("\n")) {
    const [sum = "", name] = line.trim().split(/\s+\*?/);
    if (/^[0-9a-f]{64}$/.test(sum) && (name === undefined || name === basename(url))) return sum;
  }
  throw new Error(`${checksumURL} has no SHA-256 of ${basename(url)}`);
}
