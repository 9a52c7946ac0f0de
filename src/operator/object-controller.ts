import type { Account } from "../account/account.ts";
import type { ObjectMemory } from "../account/object-memory.ts";
import { Turn } from "../account/requests/turn.ts";
import type { Config } from "../config.ts";
import type { ManagedObject } from "../objects/object.ts";
import { Outdated } from "../objects/reconcile-error.ts";
import type { Cluster } from "../reconcile/cluster.ts";
import type { ReconcileContext } from "../reconcile/context.ts";
import type { DNS } from "../reconcile/dns.ts";
import { reconcile } from "../reconcile/reconcile.ts";
import type { Clock } from "../runtime/clock.ts";
import { Controller, type ControllerOptions, type Request, type Result } from "../runtime/controller/controller.ts";
import type { Logger } from "../runtime/log.ts";
import { type KubeObject, keyOf, splitKey } from "../runtime/object.ts";
import type { Kind } from "../schema/define.ts";
import type { Accounts } from "./accounts/accounts.ts";
import type { ObjectAccounts } from "./accounts/object-accounts.ts";
import { logChanges } from "./change-log.ts";
import type { ClusterIdentity } from "./kubernetes/cluster-identity.ts";
import type { UnfinalizedObjects } from "./kubernetes/unfinalized-objects.ts";
import type { OperatorMetrics } from "./metrics/metrics.ts";
import type { Tracing } from "./tracing.ts";
import { accountOf } from "./triggers/listed-resources.ts";
import { laneOf, priorities } from "./triggers/priority.ts";

/**
 * Objects of a kind that are reconciled at the same time. Reconciles mostly wait, for Kubernetes or the service. One
 * account gets at most half of these workers.
 */
const CONCURRENCY = 64;

/** Settings of the controllers of objects and of GatewayAccounts. */
export const controllerTiming = {
  /** A reconcile may wait minutes for the request budget. One that takes longer than this is stuck. */
  timeoutSeconds: 900,
  /** Seconds. Longer than for Kubernetes alone: failures of the service last longer than conflicts. */
  backoff: { base: 1, cap: 300 },
};

/** Whether an object belongs to this installation, by its labels. */
export type IsOurs = (object: Pick<KubeObject, "metadata">) => boolean;

export interface ObjectControllerOptions {
  config: Config;
  accounts: Pick<Accounts, "settle" | "accountOf"> & {
    readonly ofObjects: Pick<ObjectAccounts, "nameOf" | "specifiedNameOf" | "flowOf">;
  };
  cluster: Cluster;
  dns: DNS;
  memory: ObjectMemory;
  unfinalizedObjects: Pick<UnfinalizedObjects, "get">;
  identity: ClusterIdentity;
  secretsWatched: (namespace: string) => boolean;
  /** Whether enough of the namespace is known to reconcile its objects. They are enqueued again when it is. */
  isOpen: (namespace: string) => boolean;
  isOurs: IsOurs;
  clock: Clock;
  log: Logger;
  controllerMetrics?: ControllerOptions["metrics"];
  metrics?: OperatorMetrics;
  tracing?: Tracing | undefined;
}

/** The controller of the objects of one kind. */
export function objectController(kind: Kind, options: ObjectControllerOptions): Controller {
  const { clock, log, controllerMetrics, tracing } = options;
  const run = (request: Request) => reconcileRequest(kind, request, options);
  return new Controller({
    name: kind.kind.toLowerCase(),
    log,
    clock,
    concurrency: CONCURRENCY,
    ...controllerTiming,
    requeuePriority: priorities.retry,
    flowOf: (key) => flowOf(kind, key, options),
    reconcile: (request) => tracing?.reconcile(kind.kind, request, () => run(request)) ?? run(request),
    ...(controllerMetrics && { metrics: controllerMetrics }),
  });
}

/**
 * Objects of one account share a flow, so that an account whose service is slow or away takes no workers from other
 * accounts.
 */
function flowOf({ kind }: Kind, key: string, { cluster, unfinalizedObjects, accounts }: ObjectControllerOptions) {
  const { namespace, name } = splitKey(key);
  const object = unfinalizedObjects.get(kind, key) ?? cluster.get(kind, namespace, name);
  return object && accounts.ofObjects.flowOf(object);
}

/**
 * A new object waits until the remote of an earlier object of the same name, which was deleted in spite of its
 * finalizer, is deleted or left. Both have the same owner mark, so the new object would adopt that remote.
 */
async function reconcileRequest(kind: Kind, request: Request, options: ObjectControllerOptions): Promise<Result> {
  const { cluster, unfinalizedObjects } = options;
  if (!options.isOpen(request.namespace)) return {};
  const ended = () => unfinalizedObjects.get(kind.kind, request.key);
  const before = ended();
  const deletion = before && (await reconcileObject(kind, before, request, options));
  if (deletion && ended()) return deletion;
  const found = cluster.get(kind.kind, request.namespace, request.name);
  // An object of another installation counts as absent here.
  const object = found && options.isOurs(found) ? found : undefined;
  const result = object ? await reconcileObject(kind, object, request, options) : {};
  // The object may have ended during this reconcile.
  return ended() ? { stale: true } : result;
}

async function reconcileObject(
  kind: Kind,
  given: ManagedObject,
  { namespace, name, signal, priority, log }: Request,
  options: ObjectControllerOptions,
): Promise<Result> {
  const { cluster, dns, memory, accounts, identity, clock, config, metrics, unfinalizedObjects, tracing } = options;
  const record = memory.of(given);
  const turn = new Turn(record, clock);
  const problem = await accounts.settle(given, { signal, turn }).then(
    () => undefined,
    (error: unknown) => error,
  );
  // The store may still have the object, although it has ended.
  const isEnded = unfinalizedObjects.get(kind.kind, keyOf(given)) === given;
  const latest = isEnded ? given : cluster.get(kind.kind, namespace, name);
  const object = latest?.metadata.uid === given.metadata.uid ? latest : given;
  const accountName = accounts.ofObjects.nameOf(object);
  let known: Account | undefined;
  const context: ReconcileContext = {
    kind,
    object,
    cluster,
    dns,
    memory,
    record,
    clock,
    signal,
    turn,
    accountName,
    owner: { cluster: identity.id, formerClusters: config.formerClusterIDs, namespace, name },
    isClusterIDSet: config.clusterID !== undefined,
    lane: laneOf(priority),
    specifiedAccountName: accounts.ofObjects.specifiedNameOf(object),
    budget: () => accountOf(accounts, object)?.turns.budget,
    state: { next: {} },
    changes: [],
    get account() {
      if (problem) throw problem;
      const account = accounts.accountOf(object);
      known ??= account;
      if (account !== known) throw new Outdated("the object has come to belong to another account");
      return account;
    },
  };
  const { resyncSeconds } = config;
  const result = await reconcile(context, { resyncSeconds, secretsWatched: options.secretsWatched(namespace) });
  if ("when" in result) known?.turns.pause(turn, result.when);
  else known?.turns.end(turn);
  logChanges(log, context);
  tracing?.describe(context.state.reported ?? object.status);
  metrics?.onChanges(kind.kind, context.changes);
  return result;
}
