import type { ListDelta } from "../../account/remotes/inventory.ts";
import type { Lane } from "../../account/requests/request-budget.ts";
import type { Resource } from "../../gateway/resource.ts";
import { GatewayAccount } from "../../kinds/gateway-account.ts";
import { conditionOf, isDeleting, type ManagedObject } from "../../objects/object.ts";
import type { ReconcileError } from "../../objects/reconcile-error.ts";
import type { Store } from "../../runtime/cache/store.ts";
import type { Controller } from "../../runtime/controller/controller.ts";
import { keyOf, splitKey } from "../../runtime/object.ts";
import { DEFAULT_ACCOUNT } from "../../schema/contract.ts";
import { type Kind, listOf } from "../../schema/define.ts";
import type { AccountObject } from "../accounts/account-objects.ts";
import type { Informers } from "../kubernetes/indexes.ts";
import { priorities } from "./priority.ts";
import { type EnqueueRequest, requestsByIndex } from "./watch-mapping.ts";

/** How many objects are enqueued per second when an account answers again. */
const WOKEN_PER_SECOND = 50;

export interface EnqueuerOptions {
  informers: Informers;
  accountStore: Pick<Store<AccountObject>, "by">;
  /** By kind, that of the GatewayAccounts among them. Read at use, so that controllers may be added later. */
  controllers: ReadonlyMap<string, Pick<Controller, "enqueue">>;
}

/** Enqueues objects, and GatewayAccounts, after events that concern several of them. */
export class Enqueuer {
  readonly #options: EnqueuerOptions;

  constructor(options: EnqueuerOptions) {
    this.#options = options;
  }

  enqueue(requests: readonly EnqueueRequest[]): void {
    for (const { kind, key, lane } of requests) this.#enqueue(kind, key, lane);
  }

  /** Enqueues a GatewayAccount (`namespace/name`). "", the operator's own credentials, has no object. */
  enqueueAccount(key: string): void {
    if (key) this.#options.controllers.get(GatewayAccount.kind)?.enqueue(key);
  }

  /**
   * Enqueues objects that are not Ready and Synced, or are being deleted, at a limited rate. Otherwise all would send
   * their requests at the same moment. Default: of all namespaces.
   */
  enqueueUnfinished(namespace?: string): void {
    let count = 0;
    for (const [kind, { store }] of this.#options.informers)
      for (const object of store.list(namespace))
        if (isUnfinished(object)) this.#enqueue(kind, keyOf(object), "retry", count++ / WOKEN_PER_SECOND);
  }

  /** Enqueues objects whose spec names a GatewayAccount (`namespace/name`), or whose remote is in its account. */
  enqueueUsers(key: string): void {
    const { namespace, name } = splitKey(key);
    const uses = ({ spec, status }: ManagedObject) =>
      status?.account === name || (spec.accountRef?.name ?? DEFAULT_ACCOUNT) === name;
    this.enqueueWhere(uses, namespace);
  }

  /** Default: objects of all namespaces. */
  enqueueWhere(which: (object: ManagedObject) => boolean, namespace?: string): void {
    for (const [kind, { store }] of this.#options.informers)
      for (const object of store.list(namespace)) if (which(object)) this.#enqueue(kind, keyOf(object), "sync");
  }

  /** Enqueues everything that reads the Secret (a `referenceKey`), or whose output it holds. */
  enqueueSecretUsers(secret: string): void {
    const { informers, accountStore } = this.#options;
    for (const object of accountStore.by("references", secret)) this.enqueueAccount(keyOf(object));
    this.enqueue(requestsByIndex(informers, "references", secret));
  }

  /** Enqueues the objects of remotes that a list showed changed or gone, and objects that wait to adopt one of them. */
  enqueueListed({ changed, absent }: ListDelta): void {
    for (const id of [...changed, ...absent])
      for (const index of ["remoteID", "wantedID"] as const)
        this.enqueue(requestsByIndex(this.#options.informers, index, id, "sync"));
  }

  /**
   * Enqueues the objects whose remotes this list shows and that do not report `problem` yet, or that report one which is
   * over, at a limited rate: each of them writes its status.
   */
  enqueueUnlisted({ name }: Resource, kinds: readonly Kind[], problem: ReconcileError | undefined): void {
    let count = 0;
    for (const kind of kinds.filter((one) => listOf(one)?.name === name))
      for (const object of this.#options.informers.get(kind.kind)?.store.list() ?? [])
        if (object.status?.id !== undefined && isSynced(object) === (problem !== undefined))
          this.#enqueue(kind.kind, keyOf(object), "sync", count++ / WOKEN_PER_SECOND);
  }

  #enqueue(kind: string, key: string, lane: Lane, afterSeconds = 0): void {
    this.#options.controllers.get(kind)?.enqueue(key, { priority: priorities[lane], afterSeconds });
  }
}

const isSynced = ({ status }: ManagedObject): boolean => conditionOf(status, "Synced")?.status === "True";

const isUnfinished = (object: ManagedObject): boolean =>
  isDeleting(object) || ["Ready", "Synced"].some((type) => conditionOf(object.status, type)?.status !== "True");
