/** What this machine has. */
export interface Facts {
  /** TEST_KUBECONFIG */
  readonly testKubeconfig: string | undefined;
  /** KUBEBUILDER_ASSETS, and which of the binaries are in it. */
  readonly assets: { readonly directory: string; readonly present: readonly string[] } | undefined;
  /** A Docker engine answered. */
  readonly docker: boolean;
  readonly go: boolean;
  /** Binaries built earlier are in the user's cache folder. */
  readonly built: boolean;
}

/** Where a cluster can come from. */
export type Source =
  | { readonly from: "kubeconfig"; readonly path: string }
  | { readonly from: "assets"; readonly directory: string; readonly controllerManager: boolean }
  | { readonly from: "docker" }
  | { readonly from: "build" };

const REQUIRED = ["kube-apiserver", "etcd", "kubectl"];
export const ASSETS = [...REQUIRED, "kube-controller-manager"];

/**
 * The sources this machine has, best first.
 *
 * @throws when there is none, saying what to install. Callers let it fail the run: tests that were skipped for want of
 * a cluster would look like tests that passed.
 */
export function sourcesOn(facts: Facts): [Source, ...Source[]] {
  const [first, ...others] = [...kubeconfig(facts), ...assets(facts), ...docker(facts), ...build(facts)];
  if (!first) throw new Error(NONE);
  return [first, ...others];
}

function kubeconfig({ testKubeconfig }: Facts): Source[] {
  return testKubeconfig ? [{ from: "kubeconfig", path: testKubeconfig }] : [];
}

function assets({ assets: found }: Facts): Source[] {
  if (!found || REQUIRED.some((name) => !found.present.includes(name))) return [];
  const controllerManager = found.present.includes("kube-controller-manager");
  return [{ from: "assets", directory: found.directory, controllerManager }];
}

function docker({ docker: answers }: Facts): Source[] {
  return answers ? [{ from: "docker" }] : [];
}

function build({ built, go }: Facts): Source[] {
  return built || go ? [{ from: "build" }] : [];
}

const NONE = `No Kubernetes cluster can be had on this machine. One of these is needed:
  - Go 1.26 or newer on the PATH, to build one (https://go.dev/dl, or a package of your system)
  - a running Docker engine
  - KUBEBUILDER_ASSETS, a folder with ${REQUIRED.join(", ")} and, if possible, kube-controller-manager
  - TEST_KUBECONFIG, the kubeconfig of a cluster that may be used for tests`;
