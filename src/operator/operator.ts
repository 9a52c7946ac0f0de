import type { ListDelta } from "../account/inventory.ts";
import type { Lane } from "../account/request-budget.ts";
import type { Config } from "../config.ts";
import type { Resource } from "../gateway/resource.ts";
import { GatewayAccount } from "../kinds/gateway-account.ts";
import { conditionOf, type ManagedObject } from "../objects/object.ts";
import { Outdated } from "../objects/reconcile-error.ts";
import type { Cluster } from "../reconcile/cluster.ts";
import type { Change, ReconcileContext } from "../reconcile/context.ts";
import { reconcile } from "../reconcile/reconcile.ts";
import { Informer } from "../runtime/cache/informer.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import type { KubeClient } from "../runtime/connection/client.ts";
import { Controller, type ControllerOptions, type Request, type Result } from "../runtime/controller/controller.ts";
import type { Logger } from "../runtime/log.ts";
import { keyOf, splitKey } from "../runtime/object.ts";
import type { EventRecorder } from "../runtime/process/events.ts";
import { FINALIZER } from "../schema/contract.ts";
import type { Kind } from "../schema/define.ts";
import type { SessionMetrics } from "../sessions/metrics.ts";
import { createSessions } from "../sessions/sessions.ts";
import { reconcileAccount } from "./accounts/account-controller.ts";
import { AccountObjects } from "./accounts/account-objects.ts";
import { type AccountObject, Accounts } from "./accounts/accounts.ts";
import { probe } from "./accounts/prober.ts";
import { ClusterIdentity } from "./kubernetes/cluster-identity.ts";
import { indexersOf, KubeCluster, referenceKey, secrets, typeOf } from "./kubernetes/kube-cluster.ts";
import type { OperatorMetrics } from "./metrics/metrics.ts";
import { resync } from "./triggers/resync.ts";
import { secretWatch } from "./triggers/secret-watch.ts";
import { priority, requestsByIndex, requestsFor } from "./triggers/watch-mapping.ts";

/** Kubernetes writes and calls to the service are waits, so many objects of a kind are worked on side by side. */
const CONCURRENCY = 32;

/** A reconcile waits for its turn in the budget, which may take minutes; beyond this something is stuck. */
const RECONCILE_SECONDS = 900;

/** Seconds; what failed at the service is tried again more patiently than a local conflict would be. */
const BACKOFF = { base: 1, cap: 300 };

export interface OperatorOptions {
  config: Config;
  kinds: readonly Kind[];
  client: KubeClient;
  recorder: EventRecorder;
  log: Logger;
  clock?: Clock;
  /** Whether this process holds the lease, so that it may send requests. Always, where nobody else can run. */
  leads?: () => boolean;
  controllerMetrics?: ControllerOptions["metrics"];
  metrics?: OperatorMetrics;
  sessionMetrics?: SessionMetrics;
}

/** The parts that make the operator, wired and not started. Whoever starts them keeps the order of `runner.ts`. */
export interface Operator {
  informers: readonly Pick<Informer, "start" | "stop" | "synced" | "reason">[];
  controllers: readonly Controller[];
  /** Runs until the signal ends it; begin it together with the controllers. */
  background: (signal: AbortSignal) => Promise<void>;
  /** After everything else has stopped. */
  close: () => Promise<void>;
}

export function createOperator(options: OperatorOptions): Operator {
  const { config, kinds, client, log, clock = systemClock } = options;
  const informers = new Map(kinds.map((kind) => [kind.kind, informerOf(kind, options)]));
  const cluster = new KubeCluster({ client, kinds, informers, recorder: options.recorder, log });
  const identity = new ClusterIdentity({ client, config, clock, log });
  const accountInformer = new Informer<AccountObject>({
    ...{ client, log, clock, type: typeOf(GatewayAccount), namespaces: config.watchNamespaces },
    indexers: { references: secretOf },
  });
  const secretInformer = secretWatch({ config, client, log, clock }, enqueueSecretUsers);
  const readSecret = (namespace: string, name: string) => cluster.secret(namespace, name);
  const accounts = new Accounts({
    ...{ config, clock, log, readSecret },
    ...(options.metrics && { metrics: options.metrics }),
    store: () => accountInformer.store,
    assertMaySend() {
      // another may lead already, and does what is left to do
      if (options.leads && !options.leads()) throw new Outdated("Not the leader: nothing is sent to the service");
    },
    onListDelta: (resource, found) => enqueueListed(resource, found),
    hasObjectFor: (id) => requestsByIndex(informers, "remoteID", id).length > 0,
    onReachable(_account, key, open) {
      if (key) accountController.enqueue(key);
      if (open) enqueueUnfinished();
    },
  });
  options.metrics?.observe({ kinds, informers, accounts, clock });
  const accountController = new Controller({
    ...{ name: "gatewayaccount", log, clock, concurrency: 4, timeoutSeconds: RECONCILE_SECONDS, backoff: BACKOFF },
    ...(options.controllerMetrics && { metrics: options.controllerMetrics }),
    reconcile: (request) =>
      reconcileAccount(
        {
          ...{ accounts, clock, readSecret, store: accountInformer.store, resyncSeconds: config.resyncSeconds },
          ...{ baseURL: config.baseURL, secretsWatched: config.watchSecrets },
          objects: new AccountObjects(client, accountInformer.store),
          dependents: (key) => dependentsOf(key).length,
        },
        request,
      ),
  });
  const sessions = createSessions({ ...options, clock, account: accounts.own, metrics: options.sessionMetrics });
  const parts: Parts = { options, accounts, cluster, identity, clock };
  const controllers = new Map(kinds.map((kind) => [kind.kind, controllerOf(kind, parts)]));

  for (const kind of kinds) {
    informers.get(kind.kind)?.addHandler((change) => {
      if (change.type === "deleted") objectGone(kind, change.object);
      for (const request of requestsFor(kind, change, { kinds, informers })) {
        controllers.get(request.kind)?.enqueue(request.key, { priority: request.priority });
      }
    });
  }

  accountInformer.addHandler((change) => {
    const { object } = change;
    if (change.type !== "updated" || needsReconcile(change.old, object)) accountController.enqueue(keyOf(object));
    if (change.type !== "updated" || readyStatus(change.old) !== readyStatus(object))
      enqueueUnfinished(object.metadata.namespace);
  });

  /** Objects whose remote cannot be deleted without this GatewayAccount. */
  function dependentsOf(key: string): ManagedObject[] {
    const objects = [...informers.values()].flatMap(({ store }) => store.list(splitKey(key).namespace));
    return objects.filter(
      (object) =>
        object.metadata.finalizers?.includes(FINALIZER) &&
        `${object.metadata.namespace}/${accounts.nameOf(object)}` === key,
    );
  }

  function objectGone({ kind }: Kind, object: ManagedObject): void {
    controllers.get(kind)?.drop(keyOf(object));
    accounts.forget(object.metadata.uid);
    const key = `${object.metadata.namespace}/${accounts.nameOf(object)}`;
    if (accountInformer.store.get(key)?.metadata.deletionTimestamp) accountController.enqueue(key);
  }

  /** Whatever was turned away while nothing went through. */
  function enqueueUnfinished(namespace?: string): void {
    for (const [kind, { store }] of informers) {
      for (const object of store.list(namespace)) {
        if (isUnfinished(object)) controllers.get(kind)?.enqueue(keyOf(object), { priority: priority.retry });
      }
    }
  }

  /** Whoever has to do with a Secret, by its reference. */
  function enqueueSecretUsers(secret: string): void {
    for (const object of accountInformer.store.by("references", secret)) accountController.enqueue(keyOf(object));
    for (const { kind, key, priority } of requestsByIndex(informers, "references", secret)) {
      controllers.get(kind)?.enqueue(key, { priority });
    }
  }

  function enqueueListed({ name }: Resource, { changed, absent }: ListDelta): void {
    log.debug({ resource: name, changed: changed.length, absent: absent.length }, "Listed the account");
    for (const id of [...changed, ...absent]) {
      for (const request of requestsByIndex(informers, "remoteID", id, priority.routine)) {
        controllers.get(request.kind)?.enqueue(request.key, { priority: request.priority });
      }
    }
  }

  return {
    informers: [
      identity,
      ...informers.values(),
      accountInformer,
      ...(secretInformer ? [secretInformer] : []),
      ...sessions.informers,
    ],
    controllers: [...controllers.values(), accountController, ...sessions.controllers],
    async background(signal) {
      signal.addEventListener("abort", () => accounts.shutDown(), { once: true });
      const resyncing = resync({ kinds, accounts, informers, clock, log, resyncSeconds: config.resyncSeconds }, signal);
      await Promise.all([resyncing, probe({ accounts, clock }, signal), sessions.background(signal)]);
    },
    close: () => accounts.close(),
  };
}

const isUnfinished = ({ status, metadata }: ManagedObject): boolean =>
  metadata.deletionTimestamp !== undefined ||
  ["Ready", "Synced"].some((type) => conditionOf(status, type)?.status !== "True");

/** Own writes to an account's status ask for nothing. */
const needsReconcile = (old: AccountObject, { metadata }: AccountObject): boolean =>
  old.metadata.generation !== metadata.generation || old.metadata.deletionTimestamp !== metadata.deletionTimestamp;

const secretOf = ({ metadata, spec }: AccountObject): string[] => [
  referenceKey(secrets.kind, metadata.namespace, spec.apiKeySecretRef.name),
];

const readyStatus = ({ status }: AccountObject): string | undefined => conditionOf(status, "Ready")?.status;

interface Parts {
  options: OperatorOptions;
  accounts: Accounts;
  cluster: Cluster;
  identity: ClusterIdentity;
  clock: Clock;
}

function informerOf(kind: Kind, { client, config, log, clock }: OperatorOptions): Informer<ManagedObject> {
  return new Informer<ManagedObject>({
    client,
    log,
    type: typeOf(kind),
    namespaces: config.watchNamespaces,
    indexers: indexersOf(kind),
    ...(clock && { clock }),
  });
}

function controllerOf(kind: Kind, parts: Parts): Controller {
  const { options, clock } = parts;
  return new Controller({
    name: kind.kind.toLowerCase(),
    reconcile: (request) => reconcileRequest(kind, request, parts),
    concurrency: CONCURRENCY,
    timeoutSeconds: RECONCILE_SECONDS,
    log: options.log,
    clock,
    backoff: BACKOFF,
    requeuePriority: priority.retry,
    ...(options.controllerMetrics && { metrics: options.controllerMetrics }),
  });
}

async function reconcileRequest(kind: Kind, request: Request, parts: Parts): Promise<Result> {
  const { cluster, accounts, identity, clock, options } = parts;
  const { namespace, name, signal } = request;
  const object = cluster.get(kind.kind, namespace, name);
  if (!object) return {};
  const owner = { cluster: identity.id, namespace, name };
  const lane = laneOf(request);
  const context: ReconcileContext = {
    ...{ kind, object, owner, cluster, clock, lane, signal },
    accountName: accounts.nameOf(object),
    state: {},
    changes: [],
    get account() {
      return accounts.of(object);
    },
  };
  const { resyncSeconds, watchSecrets } = options.config;
  const result = await reconcile(context, { resyncSeconds, secretsWatched: watchSecrets });
  logChanges(request.log, context);
  options.metrics?.onChanges(kind.kind, context.changes);
  return result;
}

const messages = { Adopted: "Took over", Created: "Created", Updated: "Updated", Deleted: "Deleted" } as const;

/** A line for each change in the account, and none where nothing was changed. */
function logChanges(log: Logger, { object, changes }: ReconcileContext): void {
  for (const change of changes) {
    const known = change.type === "Adopted" && object.status?.id !== undefined;
    if (known || !(change.type in messages)) continue;
    const { type, id, ...details } = change as Extract<Change, { type: keyof typeof messages }>;
    log.info({ remoteID: id, generation: object.metadata.generation, ...details }, messages[type]);
  }
}

/** Who corrects what failed does not wait behind what fails again. */
function laneOf({ priority: given }: Request): Lane {
  if (given < priority.retry) return "sync";
  return given < priority.edit ? "retry" : "edit";
}
