import type { Report } from "./build/progress.ts";
import type { KubectlRun } from "./kubectl.ts";

/** A running Kubernetes API server and its controllers. There are no nodes. */
export interface Cluster {
  /** Path of a kubeconfig file for a cluster-admin. */
  readonly kubeconfig: string;
  /** Path of a kubectl binary. */
  readonly kubectl: string;
  readonly url: string;
  /** Runs kubectl as the cluster-admin. Throws when it fails, unless failure is allowed. */
  readonly kubectlRun: KubectlRun;
  /**
   * Stops the API server but not etcd, and waits until it has ended. SIGSTOP freezes it instead; its connections stay
   * open. Absent where this process did not start the control plane.
   */
  stopAPIServer?(signal?: NodeJS.Signals): Promise<void>;
  /** Starts the API server again on the same port, or continues a frozen one, and waits until it is ready. */
  startAPIServer?(): Promise<void>;
  /** Removes the history from etcd. After a restart of the API server no watch can resume from its resource version. */
  compact?(): Promise<void>;
  /** Ends what was started and removes its directory. Does nothing to a cluster that TEST_KUBECONFIG names. */
  stop(): Promise<void>;
}

/** The signal aborts the start. `stop` ends a cluster that has started. */
export type StartOptions = Report;
