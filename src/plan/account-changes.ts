import { setTimeout as sleep } from "node:timers/promises";
import { type CommandAccount, type CommandAccountOptions, openForCommand } from "../account/command-account.ts";
import { ObjectMemory } from "../account/object-memory.ts";
import { reconcileErrorOf } from "../objects/map-error.ts";
import type { ManagedObject } from "../objects/object.ts";
import { type Owner, parseMark } from "../objects/ownership.ts";
import type { ReconcileError } from "../objects/reconcile-error.ts";
import { RecordChecker } from "../operator/dns/record-checker.ts";
import { resolverFor } from "../operator/dns/resolver.ts";
import { checkLeftover, deleteLeftover, isTurnAwaited, removeOwnerMark, userIDsIn } from "../reconcile/by-hand.ts";
import type { ReconcileContext } from "../reconcile/context.ts";
import type { DNS } from "../reconcile/dns.ts";
import { systemClock } from "../runtime/clock.ts";
import { FINALIZER } from "../schema/contract.ts";
import type { Kind } from "../schema/define.ts";
import { ClusterCopy } from "./cluster-copy.ts";

export interface AccountChangesOptions extends Omit<CommandAccountOptions, "clock"> {
  kinds: readonly Kind[];
  /** The id of the cluster in owner marks. */
  clusterID: string;
  /** Empty: those of the system. */
  dnsResolvers: readonly string[];
  /** Called while a deletion waits for its turn. */
  onWait?: (why: string) => void;
}

/** Why a remote stays. */
export interface Stay {
  reason: string;
  /** Ids of what uses it, if that is the reason. */
  users: readonly string[];
}

/** A remote, and the text of its owner mark. */
interface Marked {
  id: string;
  mark: string | undefined;
}

/** How often a change is tried that the service answers with 429, or that was checked too long ago. */
const ATTEMPTS = 5;

/**
 * What commands change in an account. As in a plan, the reconciler works on a copy of the cluster. Here the account is
 * the real one. All objects of the cluster count, whatever account they name: two GatewayAccounts may lead to one.
 */
export class AccountChanges implements AsyncDisposable {
  readonly #options: AccountChangesOptions;
  readonly #opened: CommandAccount;
  readonly #memory: ObjectMemory;
  readonly #dns: DNS;

  constructor(options: AccountChangesOptions) {
    this.#options = options;
    const resolver = resolverFor(options.dnsResolvers);
    this.#dns = new RecordChecker({ resolver, clock: systemClock, externalDNS: false, mayWrite: () => false });
    this.#memory = new ObjectMemory({ clock: systemClock, deadlineMs: options.requestSeconds * 1000 });
    this.#opened = openForCommand({ ...options, clock: systemClock });
  }

  /**
   * Deletes a remote that no object needs. `objects`: all of the cluster, as they are now. Resolves with the reason for
   * which the remote stays, or undefined when it is deleted.
   */
  deleteLeftover(kind: Kind, remote: Marked, objects: readonly ManagedObject[]): Promise<Stay | undefined> {
    return this.#withLeftover(deleteLeftover, kind, remote, objects);
  }

  /** Asks what `deleteLeftover` asks, and deletes nothing. */
  checkLeftover(kind: Kind, remote: Marked, objects: readonly ManagedObject[]): Promise<Stay | undefined> {
    return this.#withLeftover(checkLeftover, kind, remote, objects);
  }

  #withLeftover(
    act: typeof deleteLeftover,
    kind: Kind,
    { id, mark }: Marked,
    objects: readonly ManagedObject[],
  ): Promise<Stay | undefined> {
    const { clusterID } = this.#options;
    const ofKind = objects.filter((object) => object.kind === kind.kind);
    const owner = this.#ownerIn(mark);
    const context = this.#contextOf(kind, standIn(kind, id, owner, ofKind), owner, objects);
    return this.#attempt(() => act(context(), { id, mark, clusterID, objects: ofKind }));
  }

  /** Removes the owner mark of an object from its remote. Resolves with the reason for which it stays. */
  async removeOwnerMark(kind: Kind, object: ManagedObject, mark: string): Promise<string | undefined> {
    const context = this.#contextOf(kind, object, this.#ownerIn(mark), [object]);
    return (await this.#attempt(() => removeOwnerMark(context(), object.status?.id ?? "", mark)))?.reason;
  }

  [Symbol.asyncDispose] = (): PromiseLike<void> => this.#opened[Symbol.asyncDispose]();

  #ownerIn = (mark: string | undefined): Owner =>
    parseMark(mark) ?? { cluster: this.#options.clusterID, namespace: "", name: "" };

  /** Resolves with the message of the error for which a change was not made. */
  async #attempt(change: () => Promise<void>): Promise<Stay | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await change();
        return undefined;
      } catch (error) {
        const problem = reconcileErrorOf(error);
        const seconds = secondsToWait(problem);
        if (seconds === undefined || (attempt >= ATTEMPTS && !isTurnAwaited(problem)))
          return { reason: problem?.message ?? "Try again: it keeps changing", users: userIDsIn(error) };
        if (problem) this.#options.onWait?.(problem.message);
        await sleep(seconds * 1000);
      }
    }
  }

  /** A reconcile of this object. Each attempt has a context of its own. */
  #contextOf(
    kind: Kind,
    object: ManagedObject,
    owner: Owner,
    objects: readonly ManagedObject[],
  ): () => ReconcileContext {
    const cluster = new ClusterCopy({
      kinds: this.#options.kinds,
      objects,
      source: { secret: async () => undefined, configMap: async () => undefined },
      isSameAccount: () => true,
      // Which of the objects have their remotes in this account is not known, so none is missing.
      isSameInventory: () => false,
      mayAdopt: () => true,
    });
    const { account } = this.#opened;
    const dns = this.#dns;
    const memory = this.#memory;
    return () => ({
      kind,
      object,
      cluster,
      account,
      memory,
      record: memory.of(object),
      owner,
      clock: systemClock,
      dns,
      isClusterIDSet: true,
      lane: "edit",
      signal: account.signal,
      accountName: "",
      specifiedAccountName: "",
      state: { next: {} },
      changes: [],
    });
  }
}

/** Undefined: to wait would not help. `error` is unset when the answers had been out of date. */
function secondsToWait(error: ReconcileError | undefined): number | undefined {
  if (error === undefined) return 0;
  return error.reason === "RateLimited" || isTurnAwaited(error) ? Math.max(error.afterSeconds ?? 1, 0.1) : undefined;
}

/**
 * An object that stands for a remote without one, and that is being deleted. It has the name in the owner mark, since
 * other objects may refer to that, unless there is an object of this name that has another remote.
 */
function standIn(kind: Kind, id: string, { namespace, name }: Owner, ofKind: readonly ManagedObject[]): ManagedObject {
  const isThere = ofKind.some(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  return {
    apiVersion: "",
    kind: kind.kind,
    metadata: {
      namespace: isThere ? "" : namespace,
      name: isThere ? "" : name,
      uid: `leftover ${id}`,
      generation: 1,
      finalizers: [FINALIZER],
      deletionTimestamp: new Date().toISOString(),
    },
    // the records that an object has asked for may have stayed with the remote
    spec: { deletionPolicy: "Delete", dns: { check: true } },
    status: { id, origin: "Created" },
  };
}
