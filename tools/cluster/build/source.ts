/** What this machine has. */
export interface Facts {
  /** TEST_KUBECONFIG */
  readonly testKubeconfig: string | undefined;
  /** KUBEBUILDER_ASSETS, and which of the binaries are in it. */
  readonly assets: { readonly directory: string; readonly present: readonly string[] } | undefined;
  /** A Docker engine answered. */
  readonly docker: boolean;
  readonly go: boolean;
  /** Binaries that were downloaded or built earlier are in the user's cache folder. */
  readonly cached: boolean;
  /** Binaries are published for this machine. Whether they can be downloaded is seen when it is tried. */
  readonly published: boolean;
  /** CLUSTER_BINARIES, which forces binaries that come in this way. */
  readonly onlyWay: "download" | "build" | undefined;
}

/** Where a cluster can come from. */
export type Source =
  | { readonly from: "kubeconfig"; readonly path: string }
  | { readonly from: "assets"; readonly directory: string; readonly controllerManager: boolean }
  | { readonly from: "docker" }
  | { readonly from: "binaries" };

const REQUIRED = ["kube-apiserver", "etcd", "kubectl"];
const CONTROLLER_MANAGER = "kube-controller-manager";
export const ASSETS = [...REQUIRED, CONTROLLER_MANAGER];

/**
 * The sources that this machine has, best first. Binaries without a controller manager come last, because without it
 * namespaces are not deleted and nothing is garbage-collected.
 *
 * @throws when there is none, with what to install. Callers let the run fail: if they skipped their tests instead, the
 * tests would seem to pass.
 */
export function sourcesOn(facts: Facts): [Source, ...Source[]] {
  const [first, ...others] = CHOICES.flatMap((choice) => choice(facts) ?? []);
  if (!first) throw new Error(NONE);
  return [first, ...others];
}

const CHOICES: readonly ((facts: Facts) => Source | undefined)[] = [
  ({ testKubeconfig }) => (testKubeconfig ? { from: "kubeconfig", path: testKubeconfig } : undefined),
  (facts) => assets(facts, true),
  ({ cached, onlyWay }) => (cached || onlyWay ? { from: "binaries" } : undefined),
  ({ docker, onlyWay }) => (docker && !onlyWay ? { from: "docker" } : undefined),
  ({ cached, onlyWay, published, go }) => (!cached && !onlyWay && (published || go) ? { from: "binaries" } : undefined),
  (facts) => assets(facts, false),
];

function assets({ assets: found }: Facts, controllerManager: boolean): Source | undefined {
  if (!found || REQUIRED.some((name) => !found.present.includes(name))) return undefined;
  if (found.present.includes(CONTROLLER_MANAGER) !== controllerManager) return undefined;
  return { from: "assets", directory: found.directory, controllerManager };
}

const NONE = `No Kubernetes cluster can be had on this machine. One of these is needed:
  - on Linux, the way to https://dl.k8s.io and https://github.com, to download one
  - Go 1.26 or newer on the PATH, to build one (https://go.dev/dl, or a package of your system)
  - a running Docker engine
  - KUBEBUILDER_ASSETS, a folder with ${REQUIRED.join(", ")} and, if possible, kube-controller-manager
  - TEST_KUBECONFIG, the kubeconfig of a cluster that may be used for tests`;
