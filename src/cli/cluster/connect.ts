import type { ClusterConfig } from "../../config.ts";
import { KubeClient } from "../../runtime/connection/client.ts";
import { type KubeconfigOptions, loadConnection } from "../../runtime/connection/kubeconfig.ts";
import { Transport } from "../../runtime/connection/transport.ts";
import { textOf } from "../../runtime/log.ts";
import { OPERATOR_NAME } from "../../schema/contract.ts";
import { CommandError } from "../terminal/terminal.ts";

/** Flags that choose the cluster. */
export interface ClusterFlags {
  kubeconfig?: string;
  context?: string;
}

/**
 * Whether a flag names the cluster. The flag may be misspelt, and then another cluster, or none, would be read than the
 * one that is meant.
 */
export const isNamedCluster = ({ kubeconfig, context }: ClusterFlags): boolean =>
  kubeconfig !== undefined || context !== undefined;

export interface Connected extends AsyncDisposable {
  client: KubeClient;
  transport: Transport;
  /** The namespace of the kubeconfig context or of the pod; else `default`. */
  namespace: string;
  /** Whether it is the cluster of the pod in which this process runs, by the service account of the pod. */
  isPodOwn: boolean;
}

function connectionOf(options: KubeconfigOptions) {
  try {
    return loadConnection(options);
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT")
      throw new CommandError(`There is no kubeconfig ${options.kubeconfig}`, { cause: error });
    // The kubeconfig cannot be read, or has no such context.
    throw new CommandError(textOf(error), { cause: error });
  }
}

/** Connects to the cluster until disposal, which is the end of a command. */
export function connect(
  config: Pick<ClusterConfig, "kubeconfig" | "inCluster" | "proxies"> & { context?: string | undefined },
): Connected {
  const connection = connectionOf(config);
  const transport = new Transport(connection, { userAgent: OPERATOR_NAME });
  return {
    transport,
    client: new KubeClient(transport, { fieldManager: OPERATOR_NAME }),
    namespace: connection.namespace ?? "default",
    isPodOwn: connection.isPodOwn === true,
    [Symbol.asyncDispose]: () => transport.close(),
  };
}
