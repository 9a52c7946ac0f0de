import type { Config } from "../../config.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import type { Logger } from "../../runtime/log.ts";
import { namespaces } from "./resource-types.ts";
import { StartStep } from "./start-step.ts";

export interface IdentityOptions {
  client: Pick<KubeClient, "get">;
  config: Pick<Config, "clusterID" | "podNamespace" | "watchNamespaces">;
  clock: Clock;
  log: Logger;
}

/**
 * The namespace whose uid names the cluster, unless its id is configured. An operator that watches a list of namespaces
 * may not read kube-system, so it takes its own.
 */
export const identityNamespace = ({
  watchNamespaces,
  podNamespace,
}: Pick<Config, "podNamespace" | "watchNamespaces">): string =>
  watchNamespaces.length > 0 && podNamespace !== undefined ? podNamespace : "kube-system";

/**
 * The id of this cluster in owner marks: `clusterID` of the configuration, else the uid of the namespace kube-system,
 * which exists as long as the cluster, or of another one that `identityNamespace` tells. The choice never depends on a
 * right that may be granted later: the id must not change while objects exist.
 */
export class ClusterIdentity extends StartStep<string> {
  constructor({ client, config, clock, log }: IdentityOptions) {
    const { clusterID } = config;
    const name = identityNamespace(config);
    super({
      what: "the id of the cluster",
      where: `namespace ${name}`,
      clock,
      log,
      async run(signal) {
        const id = clusterID ?? (await client.get(namespaces, { name }, { signal })).metadata.uid;
        if (id === undefined) throw new Error("it has no uid");
        log.info({ clusterID: id }, "Determined the cluster id for owner marks");
        return id;
      },
    });
  }

  get id(): string {
    return this.value;
  }
}
