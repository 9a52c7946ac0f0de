import type { ClusterConfig } from "../config.ts";
import { KubeClient } from "../runtime/connection/client.ts";
import { loadConnection } from "../runtime/connection/kubeconfig.ts";
import { Transport } from "../runtime/connection/transport.ts";
import { OPERATOR_NAME } from "../schema/contract.ts";

export interface Connected extends AsyncDisposable {
  client: KubeClient;
  transport: Transport;
  /** The namespace of the kubeconfig context or of the pod; else `default`. */
  namespace: string;
}

/** Connects to the cluster until disposal, which is the end of a command. */
export function connect(
  config: Pick<ClusterConfig, "kubeconfig" | "inCluster"> & { context?: string | undefined },
): Connected {
  const connection = loadConnection(config);
  const transport = new Transport(connection, { userAgent: OPERATOR_NAME });
  return {
    transport,
    client: new KubeClient(transport, { fieldManager: OPERATOR_NAME }),
    namespace: connection.namespace ?? "default",
    [Symbol.asyncDispose]: () => transport.close(),
  };
}
