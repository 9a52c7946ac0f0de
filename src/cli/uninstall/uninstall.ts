import { environmentWith, readClusterConfig } from "../../config.ts";
import { durationPattern, durationSeconds } from "../../schema/duration.ts";
import { type ClusterFlags, connect } from "../cluster/connect.ts";
import { WaitTimeout, waitAtMost } from "../cluster/wait.ts";
import { type Terminal, UsageError } from "../terminal/terminal.ts";
import { deleteAll } from "./delete-all.ts";
import { releaseAll } from "./release-all.ts";
import type { Uninstallation } from "./uninstallation.ts";

const policies = { retain: releaseAll, delete: deleteAll } as const;

interface Options extends ClusterFlags {
  policy?: string;
  timeout?: string;
  deployment?: string;
  yes?: boolean;
}

/** `uninstall`: leaves no object with a finalizer that only an operator would remove. Exit code 1 when one is left. */
export async function uninstall(options: Options, terminal: Terminal): Promise<number> {
  const { policy, seconds, deployment } = checked(options);
  const config = readClusterConfig(environmentWith({ KUBECONFIG: options.kubeconfig }));
  if (deployment && !config.podNamespace) throw new UsageError("POD_NAMESPACE must say where --deployment is");
  await using cluster = connect({ ...config, context: options.context });
  const { yes = false } = options;
  const wait = waitAtMost(seconds);
  const isOwnPod = cluster.isPodOwn && config.podNamespace !== undefined;
  const parts: Uninstallation = { client: cluster.client, config, terminal, wait, deployment, yes, isOwnPod };
  try {
    return await policies[policy](parts);
  } catch (error) {
    if (!(error instanceof WaitTimeout)) throw error;
    terminal.warn(error.message);
    return 1;
  }
}

/** Releasing needs no service. A deletion may take as long as something is under way. */
const DEFAULT_TIMEOUTS = { retain: "4m", delete: "1h" } as const;

function checked({ policy, deployment, ...options }: Options) {
  if (policy !== "retain" && policy !== "delete") throw new UsageError("--policy must be retain or delete");
  const timeout = options.timeout ?? DEFAULT_TIMEOUTS[policy];
  if (!durationPattern.test(timeout)) throw new UsageError("--timeout must be a duration, such as 90s, 4m or 1h");
  return { policy, seconds: durationSeconds(timeout), deployment } as const;
}
