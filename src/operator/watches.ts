import type { Config } from "../config.ts";
import { GatewayAccount } from "../kinds/gateway-account.ts";
import { type ManagedObject, typeOf } from "../objects/object.ts";
import { Informer } from "../runtime/cache/informer.ts";
import { namespaceOf } from "../sessions/sessions.ts";
import type { AccountObject } from "./accounts/account-objects.ts";
import { ClusterIdentity } from "./kubernetes/cluster-identity.ts";
import { EndedObjects } from "./kubernetes/ended-objects.ts";
import { indexersOf, referenceKey } from "./kubernetes/indexes.ts";
import { NamespaceRights, type NamespaceRightsOptions } from "./kubernetes/namespace-rights.ts";
import { ReadObjects } from "./kubernetes/read-objects.ts";
import { secrets } from "./kubernetes/resource-types.ts";
import { type Startable, startedAfter, unlessRefused } from "./kubernetes/start-step.ts";
import { StateKey } from "./kubernetes/state-key.ts";
import type { CommonOptions } from "./options.ts";
import { secretWatch } from "./triggers/secret-watch.ts";

/** What the operator watches in the cluster, and what it knows of what it cannot see. */
export interface Watches {
  readonly identity: ClusterIdentity;
  readonly stateKey: StateKey;
  /** Of the managed kinds, by kind. */
  readonly informers: ReadonlyMap<string, Informer<ManagedObject>>;
  readonly accounts: Informer<AccountObject>;
  /** Undefined: Secrets are not watched. */
  readonly secrets: Informer | undefined;
  readonly readObjects: ReadObjects;
  readonly endedObjects: EndedObjects;
  readonly rights: NamespaceRights;
}

/** `readKeys`: reads the API keys of the accounts of a namespace. `onSecret`: called with a Secret that has changed. */
interface Hooks {
  readKeys: (namespace: string) => Promise<void>;
  onSecret: (secret: string) => void;
}

/** What watches the cluster, and what answers from it. Nothing is started yet. */
export function watchesFor(options: CommonOptions, { readKeys, onSecret }: Hooks): Watches {
  const { config, kinds, client, log, clock } = options;
  const common = { client, log, clock, namespaces: config.watchNamespaces };
  const identity = new ClusterIdentity({ client, config, clock, log });
  const stateKey = new StateKey({ client, namespace: namespaceOf(config), clock, log });
  const informers = new Map(
    kinds.map((kind) => [
      kind.kind,
      new Informer<ManagedObject>({ ...common, type: typeOf(kind), indexers: indexersOf(kind) }),
    ]),
  );
  const indexers = { references: secretOf };
  const accounts = new Informer<AccountObject>({ ...common, type: typeOf(GatewayAccount), indexers });
  const all = new Map<string, Informer<ManagedObject> | Informer<AccountObject>>([
    ...informers,
    [GatewayAccount.kind, accounts],
  ]);
  const readObjects = new ReadObjects({ informers: all, accounts, readKeys });
  const endedObjects = new EndedObjects({
    clock,
    watches: (kind, namespace) =>
      readObjects.visibilityOf(kind, namespace) === "Visible" && informers.get(kind)?.isDeadIn(namespace) === false,
    exists: (kind, key) => informers.get(kind)?.store.get(key) !== undefined,
  });
  return {
    identity,
    stateKey,
    informers,
    accounts,
    secrets: secretWatch({ config, client, log, clock }, onSecret),
    readObjects,
    endedObjects,
    rights: rightsOf(options, () => [...all.values()]),
  };
}

const rightsOf = (
  { client, clock, log, config, leads }: CommonOptions,
  sources: NamespaceRightsOptions["sources"],
): NamespaceRights =>
  new NamespaceRights({
    client,
    clock,
    log,
    namespaces: config.watchNamespaces,
    binding: config.rightsBinding,
    keeps: config.keepRightsBinding,
    sources,
    leads,
  });

/** What has to be read before the controllers start, in the order of the start. */
export const startablesOf = (
  { identity, stateKey, informers, accounts, secrets: watched }: Watches,
  { watchNamespaces }: Config,
  others: readonly Parameters<typeof unlessRefused>[0][],
): Startable[] => [
  identity,
  stateKey,
  ...[...informers.values()].map((informer) => startedAfter([identity, stateKey], unlessRefused(informer))),
  // Without the GatewayAccounts, the account of an object is unknown. So a namespace waits for its own.
  watchNamespaces.length > 0 ? unlessRefused(accounts) : accounts,
  ...(watched ? [unlessRefused(watched)] : []),
  ...others.map(unlessRefused),
];

const secretOf = ({ metadata, spec }: AccountObject): string[] => [
  referenceKey(secrets.kind, metadata.namespace, spec.apiKeySecretRef.name),
];
