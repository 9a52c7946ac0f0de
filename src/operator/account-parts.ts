import type { Account } from "../account/account.ts";
import type { ObjectMemory } from "../account/object-memory.ts";
import { isEdited } from "../objects/annotations.ts";
import { isOrphan, type ManagedObject } from "../objects/object.ts";
import { Outdated } from "../objects/reconcile-error.ts";
import type { Cluster } from "../reconcile/cluster.ts";
import { newest } from "../runtime/cache/newest.ts";
import type { Change } from "../runtime/cache/store.ts";
import { Controller } from "../runtime/controller/controller.ts";
import { keyOf, splitKey } from "../runtime/object.ts";
import { namespaceOf } from "../sessions/sessions.ts";
import { type LoneCertificate, protectAccount, reconcileAccount } from "./accounts/account-controller.ts";
import { type AccountObject, AccountObjects } from "./accounts/account-objects.ts";
import { Accounts } from "./accounts/accounts.ts";
import { DefaultAccounts } from "./accounts/default-accounts.ts";
import { countDependents } from "./accounts/dependents.ts";
import { KeyRecords } from "./accounts/key-records.ts";
import { keyUsersOf } from "./accounts/key-users.ts";
import { recordedIn } from "./accounts/recorded.ts";
import type { KubeClusterOptions } from "./kubernetes/kube-cluster.ts";
import type { UnfinalizedObjects } from "./kubernetes/unfinalized-objects.ts";
import { controllerTiming } from "./object-controller.ts";
import type { CommonOptions } from "./options.ts";
import { mayChangeAccount, readyStatus } from "./triggers/account-changes.ts";
import type { Enqueuer } from "./triggers/enqueuer.ts";
import { firstLoneCertificate } from "./triggers/lone-certificates.ts";
import { requestsByIndex } from "./triggers/watch-mapping.ts";
import type { Watches } from "./watches.ts";

interface Parts extends CommonOptions {
  watches: Watches;
  unfinalizedObjects: UnfinalizedObjects;
  memory: ObjectMemory;
  enqueuer: Enqueuer;
  readSecret: Cluster["secrets"]["read"];
}

/** The accounts of objects, and what has to do with the GatewayAccounts that lead to them. */
export class AccountParts {
  readonly accounts: Accounts;
  readonly #parts: Parts;
  readonly #objects: AccountObjects;
  readonly #keyRecords: KeyRecords;
  readonly #defaults: DefaultAccounts;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { client, clock, config, recorder, isOurs, watches } = parts;
    this.#objects = new AccountObjects({ client, recorder }, watches.accounts.store, watches.rights, isOurs);
    this.#keyRecords = new KeyRecords({
      client,
      namespace: namespaceOf(config),
      installation: config.installation,
      objects: this.#objects,
      store: () => watches.accounts.store,
      secret: () => watches.stateKey.value,
      protect: (object) =>
        protectAccount({ objects: this.#objects, store: watches.accounts.store, ...this.#dependents }, object),
    });
    this.accounts = this.#open();
    this.#defaults = new DefaultAccounts({
      client,
      clock,
      type: watches.accounts.type,
      store: () => watches.accounts.store,
      isConnectedIn: (namespace) => watches.accounts.isConnectedIn(namespace),
      seen: () => newest(Array.from(watches.informers.values(), ({ store }) => store.revision)),
    });
  }

  /** What reconciles of objects ask of the accounts. */
  get questions(): KubeClusterOptions["accounts"] {
    const { config, watches } = this.#parts;
    const { accounts } = this;
    const { ofObjects } = accounts;
    const keyUsers = { accounts, store: watches.accounts.store, ...this.#dependents };
    return {
      usersOfKey: (object, key) => keyUsersOf(keyUsers, object, key),
      tokenRecordOf: (digest) => this.#keyRecords.tokenRecordOf(digest),
      isTokenRecord: (record) => this.#keyRecords.isTokenRecord(record),
      isSameAccount: (one, other) => ofObjects.isSameAccount(one, other),
      isSameInventory: (one, other) => ofObjects.isSameInventory(one, other),
      isAccountOrphaned: (object) => ofObjects.isAccountOrphaned(object),
      ensureDefaultKnown: (object) => this.#defaults.ensureKnown(object),
      // Adoption from a GatewayAccount is always allowed: it belongs to the namespace, and so do the remotes of its
      // account.
      mayAdopt: (object) =>
        ofObjects.nameOf(object) !== "" || isListed(config.adoptionNamespaces, object.metadata.namespace),
    };
  }

  /** The controller of the GatewayAccounts. */
  controller(): Controller {
    const { config, clock, log, controllerMetrics, readSecret, watches } = this.#parts;
    const options = {
      checks: this.accounts.checks,
      clock,
      readSecret,
      store: watches.accounts.store,
      resyncSeconds: config.resyncSeconds,
      allowed: config,
      objects: this.#objects,
      ...this.#dependents,
      loneCertificate: (account: Account) => this.#loneCertificate(account),
    };
    return new Controller({
      name: "gatewayaccount",
      log,
      clock,
      concurrency: 16,
      ...controllerTiming,
      ...(controllerMetrics && { metrics: controllerMetrics }),
      reconcile: async (request) => {
        const { namespace } = request;
        if (!watches.readObjects.isOpen(namespace)) return {};
        const secretsWatched = watches.secrets?.hasSyncedIn(namespace) === true;
        return reconcileAccount({ ...options, secretsWatched }, request);
      },
    });
  }

  /** Call it with each change of a GatewayAccount. */
  onChange(change: Change<AccountObject>): void {
    const { isOurs, enqueuer } = this.#parts;
    const { object } = change;
    const isPassed = change.type === "updated" && isOurs(change.old) !== isOurs(object);
    if (change.type !== "updated" || isPassed || isEdited(change.old, object)) enqueuer.enqueueAccount(keyOf(object));
    const isNew = change.type === "added" && !change.initial;
    if (isNew || (change.type === "updated" && mayChangeAccount(change.old, object)))
      enqueuer.enqueueUsers(keyOf(object));
    if (change.type !== "updated" || readyStatus(change.old) !== readyStatus(object))
      enqueuer.enqueueUnfinished(object.metadata.namespace);
  }

  get #dependents() {
    const { watches, unfinalizedObjects } = this.#parts;
    return {
      countDependents: (key: string) =>
        countDependents(key, this.accounts.ofObjects, watches.informers, unfinalizedObjects.all),
      unreadableKinds: (namespace: string) => watches.readObjects.unreadKinds(namespace),
    };
  }

  /** The certificate of an object that cannot be read would count as one without an object. */
  #loneCertificate(account: Account): LoneCertificate {
    const { kinds, watches, clock } = this.#parts;
    if (watches.readObjects.unreadKinds().length > 0) return "unknown";
    const { accounts } = this;
    return firstLoneCertificate({ kinds, informers: watches.informers, accounts }, clock.date().getTime(), account);
  }

  #open(): Accounts {
    const { config, kinds, clock, log, leads, metrics, watches, enqueuer, memory, readSecret } = this.#parts;
    const { informers, readObjects } = watches;
    return new Accounts({
      config,
      clock,
      log,
      readSecret,
      keyRecords: this.#keyRecords,
      memory,
      ...(metrics && { metrics }),
      store: () => watches.accounts.store,
      assertMaySend() {
        // another process may lead already, and continues from what is recorded
        if (!leads()) throw new Outdated("Not the leader: nothing is sent to the service");
      },
      onListDelta({ name: resource }, delta) {
        log.debug({ resource, changed: delta.changed.length, absent: delta.absent.length }, "Listed the account");
        enqueuer.enqueueListed(delta);
      },
      onListProblem(keys, resource, problem) {
        for (const key of keys) enqueuer.enqueueAccount(key);
        enqueuer.enqueueUnlisted(resource, kinds, problem);
      },
      recordedIn: (key) => recordedIn(key, kinds, informers),
      unreadIn: (key) => readObjects.wayToReadAll(key ? splitKey(key).namespace : undefined),
      hasObjectFor: (id) => requestsByIndex(informers, "remoteID", id).length > 0,
      onReleased: () => enqueuer.enqueueUnfinished(),
      onKeyChange: (key) => this.#onKeyChange(key),
      onAvailabilityChange: (keys, available) => this.#onAvailabilityChange(keys, available),
    });
  }

  #onKeyChange(key: string): void {
    const { enqueuer } = this.#parts;
    const { ofObjects } = this.accounts;
    enqueuer.enqueueAccount(key);
    // The object may have moved to another account, or two GatewayAccounts may have become one account.
    const isDivided = (object: ManagedObject) => ofObjects.recordedNameOf(object) !== ofObjects.specifiedNameOf(object);
    const namespace = key ? splitKey(key).namespace : undefined;
    enqueuer.enqueueWhere(isDivided, namespace);
    // What failed with the former key may succeed with the new one.
    enqueuer.enqueueUnfinished(namespace);
  }

  #onAvailabilityChange(keys: readonly string[], available: boolean): void {
    const { enqueuer, watches } = this.#parts;
    for (const key of keys) enqueuer.enqueueAccount(key);
    // Objects of an account with the orphan annotation are reconciled at once instead of after their delay.
    const orphaned = keys.filter((key) => hasOrphanAnnotation(watches.accounts.store.get(key)));
    for (const key of orphaned) enqueuer.enqueueUsers(key);
    if (available) enqueuer.enqueueUnfinished();
  }
}

const hasOrphanAnnotation = (object: AccountObject | undefined): boolean => object !== undefined && isOrphan(object);

export const isListed = (namespaces: readonly string[], namespace: string): boolean =>
  namespaces.includes("*") || namespaces.includes(namespace);
