import type { KubectlRun } from "./kubectl.ts";

/** A Kubernetes API, with everything behind it that needs no nodes, until it is stopped. */
export interface Cluster {
  /** Path of a kubeconfig file for a cluster-admin. */
  readonly kubeconfig: string;
  /** Path of a kubectl binary. */
  readonly kubectl: string;
  readonly url: string;
  /** Runs kubectl as the cluster-admin. Throws when it fails, unless failure is allowed. */
  readonly kubectlRun: KubectlRun;
  /**
   * Ends the API server, and waits until it has ended; etcd goes on. SIGSTOP freezes it instead, with every connection
   * left open. Absent where the control plane is not ours.
   */
  stopAPIServer?(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port, or lets a frozen one go on, and waits until it is ready. */
  startAPIServer?(): Promise<void>;
  /** Makes etcd forget its history, so that no watch can be resumed where it was once the API server starts anew. */
  compact?(): Promise<void>;
  /** Ends all that was started and removes its directory. A cluster named by TEST_KUBECONFIG is left as it is. */
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly onProgress?: ((line: string) => void) | undefined;
  /** Gives up starting. A cluster that has started is ended by `stop`. */
  readonly signal?: AbortSignal | undefined;
}
