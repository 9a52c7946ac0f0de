import type { Config } from "../../config.ts";
import { Informer } from "../../runtime/cache/informer.ts";
import type { Change } from "../../runtime/cache/store.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import type { Logger } from "../../runtime/log.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { referenceKey, secrets } from "../kubernetes/kube-cluster.ts";

export interface SecretWatchOptions {
  config: Pick<Config, "watchSecrets" | "watchNamespaces">;
  client: KubeClient;
  log: Logger;
  clock: Clock;
}

/**
 * Tells that a Secret came, changed or went, by its reference, to whoever may be concerned. Only metadata is asked for,
 * and of that only name and version are kept. Undefined where Secrets may not be watched.
 */
export function secretWatch(
  { config, client, log, clock }: SecretWatchOptions,
  onChange: (reference: string) => void,
): Informer | undefined {
  if (!config.watchSecrets) return undefined;
  const namespaces = config.watchNamespaces;
  const informer = new Informer({
    client,
    log,
    clock,
    namespaces,
    type: secrets,
    metadataOnly: true,
    transform: identityOnly,
  });
  informer.addHandler((change) => {
    if (!isInitial(change))
      onChange(referenceKey(secrets.kind, change.object.metadata.namespace ?? "", change.object.metadata.name));
  });
  return informer;
}

/** At the start everything is looked at anyway. */
const isInitial = (change: Change): boolean => change.type === "added" && change.initial;

/** Annotations may repeat the values: kubectl writes there what it applied. */
export function identityOnly({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { namespace = "", name, uid = "", resourceVersion = "" } = metadata;
  return { apiVersion, kind, metadata: { namespace, name, uid, resourceVersion } };
}
