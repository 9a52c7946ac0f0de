import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** What can be built from the Go modules in `tools/`. `kubectl` alone is for clusters of others. */
export type ToolName =
  | "kubernetes"
  | "kubectl"
  | "node"
  | "etcd"
  | "helm"
  | "actionlint"
  | "verdict"
  | "kustomize-controller"
  | "source-controller"
  | "argocd"
  | "external-dns"
  | "peer"
  | "crossplane";

interface Tool {
  /** A folder, from `tools/`. */
  readonly module: string;
  /** The module that has the version of the tool. */
  readonly versionOf: string;
  /** The package of each binary, by the name of the binary. */
  readonly binaries: Readonly<Record<string, string>>;
  /** Names by which the only binary is called, each of which makes another program of it. */
  readonly aliases?: readonly string[];
  readonly compilation?: readonly string[];
  readonly ldflags: (version: string) => readonly string[];
}

// The linker drops debugging information anyway. Not to make it saves time and memory in each package.
const COMPILATION = ["-gcflags", "all=-dwarf=false"];

/**
 * Packages whose code was generated for the most part, or runs once. Not to copy small functions into their callers saves a
 * fifth of the time of their compilation, and what runs often, such as the watch cache and JSON, keeps it.
 */
const WITHOUT_INLINING = ["api", "client-go", "kubernetes", "kubectl", "cli-runtime"].flatMap((module) => [
  "-gcflags",
  `k8s.io/${module}/...=-dwarf=false -l`,
]);

const stripped = () => ["-s", "-w"];

function kubernetesVersion(version: string): string[] {
  const [major, minor] = version.slice(1).split(".");
  const variables = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  const settings = Object.entries(variables).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return [...stripped(), ...settings];
}

/** A controller of Flux. Each replaces modules, so each is built from a go.mod of its own. */
function fluxController(name: string): Tool {
  const module = `github.com/fluxcd/${name}`;
  return { module: name, versionOf: module, binaries: { [name]: module }, ldflags: stripped };
}

const kubernetes = {
  module: "kubernetes",
  versionOf: "k8s.io/kubernetes",
  compilation: [...COMPILATION, ...WITHOUT_INLINING],
  ldflags: kubernetesVersion,
};

export const tools: Readonly<Record<ToolName, Tool>> = {
  // a program of this project with the API server, kubectl and the controllers that the tests need
  kubernetes: {
    ...kubernetes,
    binaries: { kubernetes: "tools/kubernetes" },
    aliases: ["kube-apiserver", "kube-controller-manager", "kubectl"],
  },
  kubectl: { ...kubernetes, binaries: { kubectl: "k8s.io/kubernetes/cmd/kubectl" } },
  // for the nightly test with a real node; a module of its own, so that it builds nothing of Kubernetes anew
  node: {
    ...kubernetes,
    module: "node",
    binaries: {
      kubelet: "k8s.io/kubernetes/cmd/kubelet",
      "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    },
  },
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
  actionlint: {
    module: "actionlint",
    versionOf: "github.com/rhysd/actionlint",
    binaries: { actionlint: "github.com/rhysd/actionlint/cmd/actionlint" },
    ldflags: stripped,
  },
  // a program of this project: runs kstatus, and Lua as Argo CD does
  verdict: {
    module: "verdict",
    versionOf: "github.com/fluxcd/cli-utils",
    binaries: { verdict: "tools/verdict" },
    ldflags: stripped,
  },
  "kustomize-controller": fluxController("kustomize-controller"),
  "source-controller": fluxController("source-controller"),
  // a program of this project with three of the programs of Argo CD, for the nightly tests
  argocd: {
    module: "argocd",
    versionOf: "github.com/argoproj/argo-cd/v3",
    binaries: { argocd: "tools/argocd" },
    ldflags: stripped,
  },
  // a program of this project with the parts of external-dns that the tests need
  "external-dns": {
    module: "external-dns",
    versionOf: "sigs.k8s.io/external-dns",
    binaries: { "external-dns": "tools/external-dns" },
    ldflags: stripped,
  },
  // a program of this project: the operator that the bench compares with
  peer: {
    module: "../../../bench/peer",
    versionOf: "sigs.k8s.io/controller-runtime",
    binaries: { peer: "tools/peer" },
    ldflags: stripped,
  },
  // a program of this project: a Crossplane provider, which the bench compares with as well
  crossplane: {
    module: "../../../bench/scarce/crossplane",
    versionOf: "github.com/crossplane/crossplane-runtime/v2",
    binaries: { crossplane: "tools/crossplane" },
    ldflags: stripped,
  },
};

/** A tool in the version that its go.mod pins. */
export interface PinnedTool {
  readonly name: ToolName;
  readonly version: string;
  readonly moduleDirectory: string;
  /** The module that has the version. */
  readonly versionOf: string;
  readonly binaries: Readonly<Record<string, string>>;
  readonly aliases: readonly string[];
  readonly compilation: readonly string[];
  readonly ldflags: string;
  /** A hash of everything that the binaries depend on. */
  readonly digest: string;
}

export async function pinnedTool(name: ToolName): Promise<PinnedTool> {
  const tool = tools[name];
  const moduleDirectory = join(import.meta.dirname, "tools", tool.module);
  const files = (await readdir(moduleDirectory)).sort();
  const contents = await Promise.all(files.map((file) => readFile(join(moduleDirectory, file), "utf8")));
  const version = versionIn(contents[files.indexOf("go.mod")] ?? "", tool.versionOf);
  const ldflags = tool.ldflags(version).join(" ");
  const { versionOf, binaries, aliases = [], compilation = COMPILATION } = tool;
  // the flags of the compiler do not change what a program does, so they need no other build
  const digest = createHash("sha256")
    .update(JSON.stringify([...contents, ldflags, binaries]))
    .digest("hex")
    .slice(0, 12);
  return { name, version, moduleDirectory, versionOf, binaries, aliases, compilation, ldflags, digest };
}

/** The version of a module that a go.mod requires. */
export function versionIn(goMod: string, module: string): string {
  const line = goMod.split("\n").find((candidate) => candidate.replace("require", "").trim().startsWith(`${module} v`));
  const version = line?.match(/\sv[0-9][^\s]*/)?.[0].trim();
  if (!version) throw new Error(`go.mod does not require ${module}`);
  return version;
}
