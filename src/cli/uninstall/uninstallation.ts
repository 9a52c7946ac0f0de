import type { ClusterConfig } from "../../config.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import type { Wait } from "../cluster/wait.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Parts that both policies of `uninstall` use. */
export interface Uninstallation {
  client: KubeClient;
  config: ClusterConfig;
  terminal: Terminal;
  wait: Wait;
  /** The Deployment in POD_NAMESPACE that runs the operator, if one was named. */
  deployment: string | undefined;
  /** Nobody is asked. */
  yes: boolean;
  /** Whether this runs in the operator's own pod, or in that of the Job that removes it. */
  isOwnPod: boolean;
}
