import type { ClusterConfig } from "../config.ts";
import { KubeClient } from "../runtime/connection/client.ts";
import { loadConnection } from "../runtime/connection/kubeconfig.ts";
import { Transport } from "../runtime/connection/transport.ts";
import { OPERATOR_NAME } from "../schema/contract.ts";

export interface Connected extends AsyncDisposable {
  client: KubeClient;
  transport: Transport;
}

/** Connects to the cluster until disposal, which is the end of a command. */
export function connect(config: Pick<ClusterConfig, "kubeconfig" | "inCluster">): Connected {
  const transport = new Transport(loadConnection(config), { userAgent: OPERATOR_NAME });
  return {
    transport,
    client: new KubeClient(transport, { fieldManager: OPERATOR_NAME }),
    [Symbol.asyncDispose]: () => transport.close(),
  };
}
