import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** What can be built from the Go modules under `tools/`. `kubectl` alone is for clusters that came from elsewhere. */
export type ToolName = "kubernetes" | "kubectl" | "etcd" | "helm" | "verdict";

interface Tool {
  /** Folder under `tools/`. */
  readonly module: string;
  /** The module whose version is the tool's. */
  readonly versionOf: string;
  /** Name of each binary to the package it is built from. */
  readonly binaries: Readonly<Record<string, string>>;
  readonly ldflags: (version: string) => readonly string[];
}

const stripped = () => ["-s", "-w"];

function kubernetesVersion(version: string): string[] {
  const [major, minor] = version.slice(1).split(".");
  const variables = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  const settings = Object.entries(variables).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return [...stripped(), ...settings];
}

const kubernetes = { module: "kubernetes", versionOf: "k8s.io/kubernetes", ldflags: kubernetesVersion };

export const tools: Readonly<Record<ToolName, Tool>> = {
  kubernetes: {
    ...kubernetes,
    binaries: {
      "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
      "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
      kubectl: "k8s.io/kubernetes/cmd/kubectl",
    },
  },
  kubectl: { ...kubernetes, binaries: { kubectl: "k8s.io/kubernetes/cmd/kubectl" } },
  etcd: {
    module: "etcd",
    versionOf: "go.etcd.io/etcd/server/v3",
    binaries: { etcd: "go.etcd.io/etcd/server/v3" },
    ldflags: stripped,
  },
  helm: {
    module: "helm",
    versionOf: "helm.sh/helm/v4",
    binaries: { helm: "helm.sh/helm/v4/cmd/helm" },
    ldflags: (version) => [...stripped(), `-X helm.sh/helm/v4/internal/version.version=${version}`],
  },
  // of our own: kstatus, and Lua as Argo CD runs it
  verdict: {
    module: "verdict",
    versionOf: "github.com/fluxcd/cli-utils",
    binaries: { verdict: "tools/verdict" },
    ldflags: stripped,
  },
};

/** A tool at the version its go.mod pins. */
export interface PinnedTool {
  readonly name: ToolName;
  readonly version: string;
  readonly moduleDirectory: string;
  readonly binaries: Readonly<Record<string, string>>;
  readonly ldflags: string;
  /** Changes whenever the binaries would. */
  readonly digest: string;
}

export async function pinnedTool(name: ToolName): Promise<PinnedTool> {
  const tool = tools[name];
  const moduleDirectory = join(import.meta.dirname, "tools", tool.module);
  const files = (await readdir(moduleDirectory)).sort();
  const contents = await Promise.all(files.map((file) => readFile(join(moduleDirectory, file), "utf8")));
  const version = versionIn(contents[files.indexOf("go.mod")] ?? "", tool.versionOf);
  const ldflags = tool.ldflags(version).join(" ");
  const digest = createHash("sha256")
    .update(JSON.stringify([...contents, ldflags, tool.binaries]))
    .digest("hex")
    .slice(0, 12);
  return { name, version, moduleDirectory, binaries: tool.binaries, ldflags, digest };
}

/** The version a go.mod requires a module at. */
export function versionIn(goMod: string, module: string): string {
  const line = goMod.split("\n").find((candidate) => candidate.replace("require", "").trim().startsWith(`${module} v`));
  const version = line?.match(/\sv[0-9][^\s]*/)?.[0].trim();
  if (!version) throw new Error(`go.mod does not require ${module}`);
  return version;
}
