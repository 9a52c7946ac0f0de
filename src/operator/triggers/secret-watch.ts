import type { Config } from "../../config.ts";
import { Informer } from "../../runtime/cache/informer.ts";
import type { Change } from "../../runtime/cache/store.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import type { Logger } from "../../runtime/log.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { referenceKey } from "../kubernetes/indexes.ts";
import { secrets } from "../kubernetes/resource-types.ts";

export interface SecretWatchOptions {
  config: Pick<Config, "watchSecrets" | "watchNamespaces">;
  client: KubeClient;
  log: Logger;
  clock: Clock;
}

/**
 * Calls `onChange` with the `referenceKey` of a Secret that was created, changed or deleted. Only metadata is
 * requested, and only identity and version are cached. Undefined if Secrets are not to be watched.
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

/** Every object is reconciled at the start anyway. */
const isInitial = (change: Change): boolean => change.type === "added" && change.initial;

/** Drops annotations as well, since `kubectl apply` writes the values of a Secret into one. */
function identityOnly({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { namespace = "", name, uid = "", resourceVersion = "" } = metadata;
  return { apiVersion, kind, metadata: { namespace, name, uid, resourceVersion } };
}
