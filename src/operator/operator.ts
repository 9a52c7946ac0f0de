import { ObjectMemory } from "../account/object-memory.ts";
import type { Config } from "../config.ts";
import { GatewayAccount } from "../kinds/gateway-account.ts";
import { IntentSignatures } from "../objects/intent-signatures.ts";
import { isOrphan, type ManagedObject } from "../objects/object.ts";
import { Outdated } from "../objects/reconcile-error.ts";
import { withoutManagedFields } from "../runtime/cache/freeze.ts";
import { Informer, type InformerOptions } from "../runtime/cache/informer.ts";
import { newest } from "../runtime/cache/newest.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import type { KubeClient } from "../runtime/connection/client.ts";
import { Controller, type ControllerOptions } from "../runtime/controller/controller.ts";
import type { Logger } from "../runtime/log.ts";
import { type KubeObject, keyOf, splitKey } from "../runtime/object.ts";
import type { EventRecorder } from "../runtime/process/events.ts";
import type { Kind } from "../schema/define.ts";
import { selects } from "../schema/label-selector.ts";
import type { SessionMetrics } from "../sessions/metrics.ts";
import { createSessions, namespaceOf } from "../sessions/sessions.ts";
import { protectAccount, reconcileAccount } from "./accounts/account-controller.ts";
import { AccountObjects } from "./accounts/account-objects.ts";
import { Accounts } from "./accounts/accounts.ts";
import type { AccountObject } from "./accounts/all-credentials.ts";
import { DefaultAccounts } from "./accounts/default-accounts.ts";
import { countDependents } from "./accounts/dependents.ts";
import { KeyRecords } from "./accounts/key-records.ts";
import { keyUsersOf } from "./accounts/key-users.ts";
import { probe } from "./accounts/prober.ts";
import { recordedIn } from "./accounts/recorded.ts";
import { WriteTurns } from "./accounts/write-turns.ts";
import { RecordChecker } from "./dns/record-checker.ts";
import { resolverFor } from "./dns/resolver.ts";
import type { InstallationClaim } from "./installations/claim.ts";
import { figuresAnnotation } from "./kubernetes/account-figures.ts";
import { toReconcileError } from "./kubernetes/api-error.ts";
import { ClusterIdentity } from "./kubernetes/cluster-identity.ts";
import { EndedObjects } from "./kubernetes/ended-objects.ts";
import { indexersOf, type Listed, referenceKey, type Stores } from "./kubernetes/indexes.ts";
import { IntentKey } from "./kubernetes/intent-key.ts";
import { KubeCluster } from "./kubernetes/kube-cluster.ts";
import { LateReading } from "./kubernetes/late-reading.ts";
import { NamespaceRights } from "./kubernetes/namespace-rights.ts";
import { ReadObjects } from "./kubernetes/read-objects.ts";
import { secrets, typeOf } from "./kubernetes/resource-types.ts";
import { type Startable, type StartStep, startedAfter, unlessRefused } from "./kubernetes/start-step.ts";
import { StateFormat } from "./kubernetes/state-format.ts";
import { UnfinalizedObjects } from "./kubernetes/unfinalized-objects.ts";
import { tellUnwritten } from "./kubernetes/unwritten-status.ts";
import type { OperatorMetrics } from "./metrics/metrics.ts";
import { type IsOurs, objectController, serviceTimes } from "./object-controller.ts";
import type { Tracing } from "./tracing.ts";
import { mayChangeAccount, needsReconcile, readyStatus } from "./triggers/account-changes.ts";
import { Enqueuer } from "./triggers/enqueuer.ts";
import { firstLoneCertificate } from "./triggers/lone-certificates.ts";
import { priorities } from "./triggers/priority.ts";
import { resync } from "./triggers/resync.ts";
import { secretWatch } from "./triggers/secret-watch.ts";
import { requestsByIndex, requestsFor } from "./triggers/watch-mapping.ts";

export interface OperatorOptions {
  config: Config;
  kinds: readonly Kind[];
  client: KubeClient;
  recorder: EventRecorder;
  log: Logger;
  clock?: Clock;
  /** Whether this process holds the lease and so may send requests. Default: always. */
  leads?: () => boolean;
  /** The leader waits for this claim before it starts its controllers. */
  claim?: InstallationClaim | undefined;
  controllerMetrics?: ControllerOptions["metrics"];
  metrics?: OperatorMetrics;
  sessionMetrics?: SessionMetrics;
  tracing?: Tracing | undefined;
}

/** The parts of the operator, not started. Start and stop them in the order of `runtime/process/runner.ts`. */
export interface Operator {
  informers: readonly Startable[];
  /** Steps that the leader completes before its controllers start. */
  preparations: readonly (Startable & Pick<StartStep<void>, "problem">)[];
  controllers: readonly Pick<Controller, "start" | "drain" | "problem">[];
  /** Why a namespace cannot be read, and what a person does. Undefined: all can be. */
  unreadProblem: () => string | undefined;
  /** Annotations of the leader's Lease: facts about its accounts. */
  leaseAnnotations: () => Record<string, string>;
  /** Start it together with the controllers. Runs until the signal aborts. */
  background: (signal: AbortSignal) => Promise<void>;
  /** Call it after everything else has stopped. */
  close: () => Promise<void>;
}

export function createOperator(options: OperatorOptions): Operator {
  const { config, kinds, client, log, clock = systemClock, metrics, controllerMetrics } = options;
  const common = { client, log, clock, namespaces: config.watchNamespaces };
  const identity = new ClusterIdentity({ client, config, clock, log });
  const ownNamespace = namespaceOf(config);
  const intentKey = new IntentKey({ client, namespace: ownNamespace, clock, log });
  let signatures: IntentSignatures | undefined;
  const intentSignatures = () => {
    signatures ??= new IntentSignatures(intentKey.value, identity.id, config.formerClusterIDs);
    return signatures;
  };
  // An intent is an annotation, which others can write too. It is checked where its object comes in.
  const transform = (object: KubeObject) => intentSignatures().admit(withoutManagedFields(object)) as ManagedObject;
  const informers = new Map(kinds.map((kind) => [kind.kind, informerOf(kind, { ...common, transform })]));
  // The operator also sees objects of other installations in its namespaces, since they may use remotes of its own
  // objects.
  const isOurs: IsOurs = ({ metadata }) => selects(config.watchSelector, metadata.labels);
  const accountInformer = new Informer<AccountObject>({
    ...common,
    type: typeOf(GatewayAccount),
    indexers: { references: secretOf },
  });
  const readObjects = new ReadObjects({
    informers: new Map<string, Informer<ManagedObject> | Informer<AccountObject>>([
      ...informers,
      [GatewayAccount.kind, accountInformer],
    ]),
    accounts: accountInformer,
    readKeys: (namespace) => accounts.readKeysIn(namespace),
  });
  const memory = new ObjectMemory({ clock, deadlineMs: config.requestSeconds * 1000 });
  const endedObjects = new EndedObjects({
    clock,
    watches: (kind, namespace) =>
      readObjects.visibilityOf(kind, namespace) === "Visible" && informers.get(kind)?.isDeadIn(namespace) === false,
    exists: (kind, key) => informers.get(kind)?.store.get(key) !== undefined,
  });
  const unfinalizedObjects = new UnfinalizedObjects(clock, (object) => finish(object));
  const rights = new NamespaceRights({
    client,
    clock,
    log,
    namespaces: config.watchNamespaces,
    binding: config.rightsBinding,
    keeps: config.keepRightsBinding,
    sources: () => [...informers.values(), accountInformer],
    leads: () => options.leads?.() !== false,
  });
  const cluster = new KubeCluster({
    client,
    kinds,
    informers,
    recorder: options.recorder,
    log,
    endedObjects,
    unfinalizedObjects,
    rights,
    readObjects,
    intentSignatures,
    accounts: {
      usersOfKey: (object, key) => keyUsersOf({ accounts, store: accountInformer.store, ...dependents }, object, key),
      tokenRecordOf: (digest) => keyRecords.tokenRecordOf(digest),
      isSameAccount: (one, other) => accounts.isSameAccount(one, other),
      isSameInventory: (one, other) => accounts.isSameInventory(one, other),
      isAccountOrphaned: (object) => accounts.isAccountOrphaned(object),
      ensureDefaultKnown: (object) => defaultAccounts.ensureKnown(object),
      // Adoption from a GatewayAccount is always allowed: it belongs to the namespace, and so do the remotes of its
      // account.
      mayAdopt: (object) =>
        accounts.nameOf(object) !== "" || isListed(config.adoptionNamespaces, object.metadata.namespace),
    },
  });
  const { externalDNS, dnsResolvers } = config;
  const mayWrite = (namespace: string) => isListed(config.externalDNSNamespaces, namespace);
  const dns = new RecordChecker({ resolver: resolverFor(dnsResolvers), clock, externalDNS, mayWrite });
  const defaultAccounts = new DefaultAccounts({
    client,
    clock,
    type: accountInformer.type,
    store: () => accountInformer.store,
    isConnectedIn: (namespace) => accountInformer.isConnectedIn(namespace),
    seen: () => newest(Array.from(informers.values(), ({ store }) => store.revision)),
  });
  const controllers = new Map<string, Controller>();
  const enqueueAccount = (key: string) => accountController.enqueue(key);
  const enqueuer = new Enqueuer({ informers, accountStore: accountInformer.store, controllers, enqueueAccount });
  const secretInformer = secretWatch({ config, client, log, clock }, (secret) => enqueuer.enqueueSecretUsers(secret));
  const secretsWatched = (namespace: string) => secretInformer?.hasSyncedIn(namespace) === true;
  const readSecret = (namespace: string, name: string) => cluster.secret(namespace, name);
  const turns = new WriteTurns();
  const accountObjects = new AccountObjects(
    { client, recorder: options.recorder },
    accountInformer.store,
    rights,
    isOurs,
    turns,
  );
  const keyRecords = new KeyRecords({
    client,
    namespace: ownNamespace,
    installation: config.installation,
    isOurs,
    turns,
    store: () => accountInformer.store,
    secret: () => intentKey.value,
    protect: (object) =>
      protectAccount({ objects: accountObjects, store: accountInformer.store, ...dependents }, object),
  });
  const accounts = new Accounts({
    config,
    clock,
    log,
    readSecret,
    keyRecords,
    memory,
    ...(metrics && { metrics }),
    store: () => accountInformer.store,
    assertMaySend() {
      // another process may lead already, and continues from what is recorded
      if (options.leads && !options.leads()) throw new Outdated("Not the leader: nothing is sent to the service");
    },
    onListDelta({ name: resource }, delta) {
      log.debug({ resource, changed: delta.changed.length, absent: delta.absent.length }, "Listed the account");
      enqueuer.enqueueListed(delta);
    },
    onListProblem(keys, resource, problem) {
      for (const key of keys) if (key) enqueueAccount(key);
      enqueuer.enqueueUnlisted(resource, kinds, problem);
    },
    recordedIn: (key) => recordedIn(key, kinds, informers),
    unreadIn: (key) => readObjects.wayToReadAll(key ? splitKey(key).namespace : undefined),
    hasObjectFor: (id) => requestsByIndex(informers, "remoteID", id).length > 0,
    onReleased: () => enqueuer.enqueueUnfinished(),
    onKeyChange(key) {
      if (key) enqueueAccount(key);
      // The object may have moved to another account, or two GatewayAccounts may have become one account.
      const isDivided = (object: ManagedObject) => accounts.recordedNameOf(object) !== accounts.specifiedNameOf(object);
      const namespace = key ? splitKey(key).namespace : undefined;
      enqueuer.enqueueWhere(isDivided, namespace);
      // What failed with the former key may succeed with the new one.
      enqueuer.enqueueUnfinished(namespace);
    },
    onAvailabilityChange(keys, available) {
      for (const key of keys) if (key) enqueueAccount(key);
      // Objects of an account with the orphan annotation are reconciled at once instead of after their delay.
      const orphaned = keys.filter((key) => hasOrphanAnnotation(accountInformer.store.get(key)));
      for (const key of orphaned) enqueuer.enqueueUsers(key);
      if (available) enqueuer.enqueueUnfinished();
    },
  });
  const dependents = {
    countDependents: (key: string) => countDependents(key, accounts, informers, unfinalizedObjects.all),
    unreadableKinds: (namespace: string) => readObjects.unreadKinds(namespace),
  };
  const listed: [string, Listed][] = [...informers, [GatewayAccount.kind, accountInformer]];
  const counted: Stores = new Map(listed.map(([kind, { store }]) => [kind, { store: onlyOurs(store, isOurs) }]));
  const accountController = new Controller({
    name: "gatewayaccount",
    log,
    clock,
    concurrency: 16,
    ...serviceTimes,
    ...(controllerMetrics && { metrics: controllerMetrics }),
    reconcile: async (request) => {
      if (!readObjects.isOpen(request.namespace)) return {};
      return reconcileAccount(
        {
          accounts,
          clock,
          readSecret,
          store: accountInformer.store,
          resyncSeconds: config.resyncSeconds,
          allowed: config,
          secretsWatched: secretsWatched(request.namespace),
          objects: accountObjects,
          ...dependents,
          // The certificate of an object that cannot be read would count as one without an object.
          loneCertificate: (account) =>
            readObjects.unreadKinds().length > 0
              ? "unknown"
              : firstLoneCertificate({ kinds, informers, accounts }, clock.date().getTime(), account),
        },
        request,
      );
    },
  });
  const sessions = createSessions({
    ...options,
    clock,
    ownAccount: () => accounts.own,
    metrics: options.sessionMetrics,
    mirrored: () => accountInformer.store.list().filter(isMirrored),
    isOurs,
    // The operator may not watch GatewayAccounts in its own namespace. It then need not wait for them.
    isOpen: (namespace) => !accountInformer.watches(namespace) || readObjects.isOpen(namespace),
    openAccount: (ref, signal) => accounts.open(keyOf(ref), { signal }),
    onUnwritten: (object, error) => tellUnwritten(options.recorder, object, toReconcileError(error)),
  });
  const commandInformers = [sessions.sessions, sessions.commands];
  const watched = [
    ...informers.values(),
    accountInformer,
    ...(secretInformer ? [secretInformer] : []),
    ...commandInformers,
  ];
  const watches = new Map(watched.map((informer) => [informer.type.kind, informer]));
  metrics?.setSources({ kinds, informers: new Map(listed), counted, watches, accounts, clock, claim: options.claim });

  for (const kind of kinds) {
    controllers.set(
      kind.kind,
      objectController(kind, {
        ...options,
        clock,
        accounts,
        cluster,
        dns,
        unfinalizedObjects,
        memory,
        identity,
        secretsWatched,
        isOpen: (namespace) => readObjects.isOpen(namespace),
        isOurs,
      }),
    );
    informers.get(kind.kind)?.addHandler((change) => {
      // Every replica sees the change. Only the leader counts it.
      if (options.leads?.() !== false && isOurs(change.object)) metrics?.onObject(change, clock.now());
      if (change.type === "deleted") forget(kind, change.object);
      if (change.type === "updated" && isOurs(change.old) !== isOurs(change.object)) pass(kind, change.object);
      enqueuer.enqueue(requestsFor(kind, change, { kinds, informers }));
    });
  }

  accountInformer.addHandler((change) => {
    const { object } = change;
    const isPassed = change.type === "updated" && isOurs(change.old) !== isOurs(object);
    if (change.type !== "updated" || isPassed || needsReconcile(change.old, object)) enqueueAccount(keyOf(object));
    const isNew = change.type === "added" && !change.initial;
    if (isNew || (change.type === "updated" && mayChangeAccount(change.old, object)))
      enqueuer.enqueueUsers(keyOf(object));
    if (change.type !== "updated" || readyStatus(change.old) !== readyStatus(object))
      enqueuer.enqueueUnfinished(object.metadata.namespace);
  });

  /**
   * The object has ended and nothing is left to do for it. A GatewayAccount that is being deleted may have waited for
   * this.
   */
  function finish(object: ManagedObject): void {
    memory.end(object.metadata.uid);
    const key = `${object.metadata.namespace}/${accounts.recordedNameOf(object)}`;
    if (accountInformer.store.get(key)?.metadata.deletionTimestamp) enqueueAccount(key);
  }

  function forget({ kind }: Kind, object: ManagedObject): void {
    endedObjects.record(kind, object.metadata);
    cluster.recordUnfinalized(object);
    if (unfinalizedObjects.has(object)) {
      controllers.get(kind)?.enqueue(keyOf(object), { priority: priorities.edit });
      return;
    }
    controllers.get(kind)?.drop(keyOf(object));
    finish(object);
  }

  /** The labels of an object have changed, so that this installation gets it or loses it. */
  function pass({ kind }: Kind, object: ManagedObject): void {
    const key = keyOf(object);
    const { namespace, name, uid } = object.metadata;
    const isNew = isOurs(object);
    log.info(
      { kind, namespace, name },
      isNew ? "The object belongs to this installation now" : "The object belongs to this installation no more",
    );
    if (isNew) controllers.get(kind)?.enqueue(key, { priority: priorities.edit });
    else {
      controllers.get(kind)?.drop(key);
      metrics?.onObject({ type: "deleted", object, initial: false }, clock.now());
    }
    if (isNew) memory.take(uid);
    else memory.end(uid);
  }

  const late = new LateReading({
    watched,
    readObjects,
    log,
    accounts: accountInformer,
    // Any waiting object may have waited for it.
    onRead: () => enqueuer.enqueueUnfinished(),
    onOpen(namespace) {
      for (const object of accountInformer.store.list(namespace || undefined)) enqueueAccount(keyOf(object));
      enqueuer.enqueueWhere(() => true, namespace || undefined);
      sessions.onOpen(namespace);
    },
  });

  const claimed = options.claim?.synced;
  const stateFormat = new StateFormat({ client, namespace: ownNamespace, after: claimed, clock, log });

  return {
    informers: [
      identity,
      intentKey,
      ...[...informers.values()].map((informer) => startedAfter([identity, intentKey], unlessRefused(informer))),
      // Without the GatewayAccounts, the account of an object is unknown. So a namespace waits for its own.
      config.watchNamespaces.length > 0 ? unlessRefused(accountInformer) : accountInformer,
      ...(secretInformer ? [unlessRefused(secretInformer)] : []),
      ...commandInformers.map(unlessRefused),
    ],
    preparations: [...(options.claim ? [options.claim] : []), stateFormat],
    controllers: [...controllers.values(), accountController, sessions.controller],
    unreadProblem: () => readObjects.problem,
    leaseAnnotations: () => figuresAnnotation(accounts.figures),
    async background(signal) {
      late.begin();
      signal.addEventListener("abort", () => accounts.shutDown(), { once: true });
      const resyncing = resync({ kinds, accounts, informers, clock, log, resyncSeconds: config.resyncSeconds }, signal);
      const probing = probe({ accounts, readOwnKey: accounts.readOwnKey, clock }, signal);
      const keeping = rights.background(signal);
      await Promise.all([resyncing, probing, keeping, sessions.background(signal)]);
    },
    close: () => accounts.close(),
  };
}

const onlyOurs = (store: Listed["store"], isOurs: IsOurs): Listed["store"] => ({
  list: (namespace) => store.list(namespace).filter(isOurs),
});

/** Whether the sessions of the account are shown in its namespace. */
const isMirrored = ({ spec, metadata }: AccountObject): boolean =>
  spec.tunnelSessions === "Mirror" && metadata.deletionTimestamp === undefined;

const hasOrphanAnnotation = (object: AccountObject | undefined): boolean => object !== undefined && isOrphan(object);

const secretOf = ({ metadata, spec }: AccountObject): string[] => [
  referenceKey(secrets.kind, metadata.namespace, spec.apiKeySecretRef.name),
];

const informerOf = (
  kind: Kind,
  common: Pick<InformerOptions<ManagedObject>, "client" | "log" | "clock" | "namespaces" | "transform">,
): Informer<ManagedObject> => new Informer({ ...common, type: typeOf(kind), indexers: indexersOf(kind) });

const isListed = (namespaces: readonly string[], namespace: string): boolean =>
  namespaces.includes("*") || namespaces.includes(namespace);
