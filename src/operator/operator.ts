import { ObjectMemory } from "../account/object-memory.ts";
import { GatewayAccount } from "../kinds/gateway-account.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Controller } from "../runtime/controller/controller.ts";
import type { Logger } from "../runtime/log.ts";
import { keyOf } from "../runtime/object.ts";
import { selects } from "../schema/label-selector.ts";
import { createSessions, namespaceOf, type Sessions } from "../sessions/sessions.ts";
import { AccountParts, isListed } from "./account-parts.ts";
import type { AccountObject } from "./accounts/account-objects.ts";
import type { Accounts } from "./accounts/accounts.ts";
import { probe } from "./accounts/prober.ts";
import { RecordChecker } from "./dns/record-checker.ts";
import { resolverFor } from "./dns/resolver.ts";
import { figuresAnnotation } from "./kubernetes/account-figures.ts";
import { toReconcileError } from "./kubernetes/api-error.ts";
import type { Listed, Stores } from "./kubernetes/indexes.ts";
import { KubeCluster } from "./kubernetes/kube-cluster.ts";
import { LateReading } from "./kubernetes/late-reading.ts";
import type { Startable, StartStep } from "./kubernetes/start-step.ts";
import { StateFormat } from "./kubernetes/state-format.ts";
import { UnfinalizedObjects } from "./kubernetes/unfinalized-objects.ts";
import { tellUnwritten } from "./kubernetes/unwritten-status.ts";
import { ObjectChanges } from "./object-changes.ts";
import { type IsOurs, objectController } from "./object-controller.ts";
import type { CommonOptions, OperatorOptions } from "./options.ts";
import { Enqueuer } from "./triggers/enqueuer.ts";
import { resync } from "./triggers/resync.ts";
import { startablesOf, type Watches, watchesFor } from "./watches.ts";

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

/**
 * Makes all parts and connects them; nothing runs yet. Parts that refer to each other do so by functions: what these use
 * is made by the time that something is watched.
 */
export function createOperator(given: OperatorOptions): Operator {
  const options = withCommon(given);
  const { config, kinds, clock, log } = options;
  const memory = new ObjectMemory({ clock, deadlineMs: config.requestSeconds * 1000 });
  const controllers = new Map<string, Controller>();
  const watches = watchesFor(options, {
    readKeys: (namespace) => accounts.readKeysIn(namespace),
    onSecret: (secret) => enqueuer.enqueueSecretUsers(secret),
  });
  const { informers } = watches;
  const enqueuer = new Enqueuer({ informers, accountStore: watches.accounts.store, controllers });
  const unfinalizedObjects = new UnfinalizedObjects(clock, (object) => changes.finish(object));
  const readSecret = (namespace: string, name: string) => cluster.secrets.read(namespace, name);
  const parts = { ...options, watches, unfinalizedObjects, memory, enqueuer, readSecret };
  const accountParts = new AccountParts(parts);
  const { accounts } = accountParts;
  const cluster = new KubeCluster({ ...parts, ...watches, accounts: accountParts.questions });
  const changes = new ObjectChanges({ ...parts, controllers, accounts: accounts.ofObjects, cluster });
  const sessions = sessionsOf(options, watches, accounts);

  controllers.set(GatewayAccount.kind, accountParts.controller());
  watches.accounts.addHandler((change) => accountParts.onChange(change));
  const forObjects = { ...parts, ...watches, accounts, cluster, dns: recordChecker(options) };
  const isOpen = (namespace: string) => watches.readObjects.isOpen(namespace);
  const secretsWatched = (namespace: string) => watches.secrets?.hasSyncedIn(namespace) === true;
  for (const kind of kinds) {
    controllers.set(kind.kind, objectController(kind, { ...forObjects, isOpen, secretsWatched }));
    informers.get(kind.kind)?.addHandler((change) => changes.onChange(kind, change));
  }

  const late = lateReading(watches, { sessions, enqueuer, log });
  setSources(options, watches, { sessions, accounts });
  const after = options.claim?.synced;
  const stateFormat = new StateFormat({ client: options.client, namespace: namespaceOf(config), after, clock, log });
  return {
    informers: startablesOf(watches, config, [sessions.sessions, sessions.commands]),
    preparations: [...(options.claim ? [options.claim] : []), stateFormat],
    controllers: [...controllers.values(), sessions.controller],
    unreadProblem: () => watches.readObjects.problem,
    leaseAnnotations: () => figuresAnnotation(accounts.figures),
    async background(signal) {
      late.begin();
      signal.addEventListener("abort", () => accounts.shutDown(), { once: true });
      await Promise.all([
        resync({ kinds, accounts, informers, clock, log, resyncSeconds: config.resyncSeconds }, signal),
        probe({ accounts, clock }, signal),
        watches.rights.background(signal),
        sessions.background(signal),
      ]);
    },
    close: () => accounts.close(),
  };
}

const withCommon = (given: OperatorOptions): CommonOptions => ({
  ...given,
  clock: given.clock ?? systemClock,
  leads: given.leads ?? (() => true),
  isOurs: ({ metadata }) => selects(given.config.watchSelector, metadata.labels),
});

function recordChecker({ config, clock }: CommonOptions): RecordChecker {
  const { externalDNS, dnsResolvers, externalDNSNamespaces } = config;
  const mayWrite = (namespace: string) => isListed(externalDNSNamespaces, namespace);
  return new RecordChecker({ resolver: resolverFor(dnsResolvers), clock, externalDNS, mayWrite });
}

const sessionsOf = (
  options: CommonOptions,
  { accounts: informer, readObjects }: Watches,
  accounts: Accounts,
): Sessions =>
  createSessions({
    ...options,
    ownAccount: () => accounts.own,
    metrics: options.sessionMetrics,
    mirrored: () => informer.store.list().filter(isMirrored),
    // The operator may not watch GatewayAccounts in its own namespace. It then need not wait for them.
    isOpen: (namespace) => !informer.watches(namespace) || readObjects.isOpen(namespace),
    openAccount: (ref, signal) => accounts.open(keyOf(ref), { signal }),
    onUnwritten: (object, error) => tellUnwritten(options.recorder, object, toReconcileError(error)),
  });

/** Everything that is watched. */
const watchedOf = ({ informers, accounts, secrets }: Watches, { sessions, commands }: Sessions) => [
  ...informers.values(),
  accounts,
  ...(secrets ? [secrets] : []),
  sessions,
  commands,
];

const lateReading = (
  watches: Watches,
  { sessions, enqueuer, log }: { sessions: Sessions; enqueuer: Enqueuer; log: Logger },
): LateReading =>
  new LateReading({
    watched: watchedOf(watches, sessions),
    readObjects: watches.readObjects,
    log,
    accounts: watches.accounts,
    // Any waiting object may have waited for it.
    onRead: () => enqueuer.enqueueUnfinished(),
    onOpen(namespace) {
      for (const object of watches.accounts.store.list(namespace || undefined)) enqueuer.enqueueAccount(keyOf(object));
      enqueuer.enqueueWhere(() => true, namespace || undefined);
      sessions.onOpen(namespace);
    },
  });

/** Tells the metrics where they find what they count. */
function setSources(
  { kinds, clock, claim, metrics, isOurs }: CommonOptions,
  watches: Watches,
  { sessions, accounts }: { sessions: Sessions; accounts: Accounts },
): void {
  const listed: [string, Listed][] = [...watches.informers, [GatewayAccount.kind, watches.accounts]];
  const counted: Stores = new Map(listed.map(([kind, { store }]) => [kind, { store: onlyOurs(store, isOurs) }]));
  const byKind = new Map(watchedOf(watches, sessions).map((informer) => [informer.type.kind, informer]));
  metrics?.setSources({ kinds, informers: new Map(listed), counted, watches: byKind, accounts, clock, claim });
}

const onlyOurs = (store: Listed["store"], isOurs: IsOurs): Listed["store"] => ({
  list: (namespace) => store.list(namespace).filter(isOurs),
});

/** Whether the sessions of the account are shown in its namespace. */
const isMirrored = ({ spec, metadata }: AccountObject): boolean =>
  spec.tunnelSessions === "Mirror" && metadata.deletionTimestamp === undefined;
