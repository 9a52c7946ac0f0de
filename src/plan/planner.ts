import type { Account } from "../account/account.ts";
import { ObjectMemory } from "../account/object-memory.ts";
import { conditionOf, isDeleting, keyWithKindOf, type ManagedObject, retiringIDs } from "../objects/object.ts";
import type { Change, ReconcileContext } from "../reconcile/context.ts";
import type { DNS } from "../reconcile/dns.ts";
import { reconcile } from "../reconcile/reconcile.ts";
import type { Kind } from "../schema/define.ts";
import { AccountCopy, type AccountSource, type PlannedRequest } from "./account-copy.ts";
import { accountOf, DEADLINE_MS } from "./account-of-copy.ts";
import { ClusterCopy, type ClusterSource } from "./cluster-copy.ts";
import { PassingClock } from "./passing-clock.ts";

export interface PlanInput {
  kinds: readonly Kind[];
  /** All objects of the cluster, as they should be. */
  objects: readonly ManagedObject[];
  /** Whether the remote of an object is in the account of the plan. Other objects are only looked up. */
  isInAccount: (object: ManagedObject) => boolean;
  account: AccountSource;
  cluster: ClusterSource;
  /** The id of the cluster in owner marks. */
  clusterID: string;
  /** Ids that it had in them before. */
  formerClusterIDs: readonly string[];
  /** Whether a person has set it. */
  isClusterIDSet: boolean;
  /** The GatewayAccount of an object in the account; empty for the operator's own credentials. */
  accountNameOf: (object: ManagedObject) => string;
  mayAdopt: (namespace: string) => boolean;
  /** Whether operations that the API page does not show are tried. */
  undocumented: boolean;
  onProgress?: (done: number, all: number) => void;
}

/** The planned result for one object. */
export interface PlannedObject {
  kind: Kind;
  /** As it is before the plan. */
  before: ManagedObject;
  /** As it is in the end; undefined: it is gone. */
  after: ManagedObject | undefined;
  /** In the order in which they would be sent. */
  requests: PlannedRequest[];
  changes: Change[];
}

/** Lets this much time pass for objects that wait for each other, in milliseconds. One step after the other. */
const WAITS_MS = [1_000, 5_000, 60_000, 600_000, 4_000_000];

/** More rounds than any chain of references needs. */
const MOST_ROUNDS = 50;

/** A domain is released only when its DNS records are gone. A plan takes them for gone. */
const noRecords: DNS = {
  externalDNS: false,
  mayWrite: () => false,
  check: async () => ({ state: "missing" }),
};

/** The reconciler asks for it. It has no effect: a plan does not look at when an object is due again. */
const RESYNC_SECONDS = 300;

/**
 * Finds out what the operator would do with its own reconciler, which works on copies of cluster and account until
 * nothing changes any more. Sends only reads.
 */
export async function planChanges(input: PlanInput): Promise<PlannedObject[]> {
  return new Planner(input).run();
}

class Planner {
  readonly #input: PlanInput;
  readonly #clock = new PassingClock();
  readonly #accountCopy: AccountCopy;
  readonly #clusterCopy: ClusterCopy;
  readonly #account: Account;
  readonly #memory: ObjectMemory;
  readonly #planned: ReadonlyMap<string, PlannedObject>;

  constructor(input: PlanInput) {
    const { kinds, objects, isInAccount, undocumented } = input;
    this.#input = input;
    this.#accountCopy = new AccountCopy(input.account, this.#clock, kinds);
    const isSame = (one: ManagedObject, other: ManagedObject) => isInAccount(one) && isInAccount(other);
    const mayAdopt = (object: ManagedObject) =>
      input.accountNameOf(object) !== "" || input.mayAdopt(object.metadata.namespace);
    this.#clusterCopy = new ClusterCopy({
      kinds,
      objects,
      source: input.cluster,
      isSameAccount: isSame,
      isSameInventory: isSame,
      mayAdopt,
    });
    this.#memory = new ObjectMemory({ clock: this.#clock, deadlineMs: DEADLINE_MS, retriesRefused: false });
    this.#account = accountOf(this.#accountCopy, this.#clock, { undocumented });
    const byKind = new Map(kinds.map((kind) => [kind.kind, kind]));
    this.#planned = new Map(
      objects.filter(isInAccount).flatMap((before): [string, PlannedObject][] => {
        const kind = byKind.get(before.kind);
        return kind ? [[keyWithKindOf(before), { kind, before, after: before, requests: [], changes: [] }]] : [];
      }),
    );
  }

  async run(): Promise<PlannedObject[]> {
    let due = [...this.#planned.values()];
    for (const wait of [0, ...WAITS_MS]) {
      this.#clock.pass(wait);
      for (let round = 0; due.length > 0 && round < MOST_ROUNDS; round += 1) {
        if (!(await this.#reconcileAll(due))) break;
        due = this.#dueAfterwards();
      }
      due = [...this.#planned.values()].filter(({ after }) => after && isUnfinished(after));
    }
    return [...this.#planned.values()];
  }

  /** False when nothing was written. */
  async #reconcileAll(due: readonly PlannedObject[]): Promise<boolean> {
    const { requests } = this.#accountCopy;
    const sent = requests.length;
    this.#clusterCopy.written.clear();
    for (const [index, one] of due.entries()) {
      this.#input.onProgress?.(index + 1, due.length);
      await this.#reconcileOne(one);
    }
    return requests.length > sent || this.#clusterCopy.written.size > 0;
  }

  async #reconcileOne(one: PlannedObject): Promise<void> {
    const object = this.#clusterCopy.now(one.before);
    if (!object) return;
    const { requests } = this.#accountCopy;
    const sent = requests.length;
    const context = this.#contextOf(one.kind, object);
    await reconcile(context, { resyncSeconds: RESYNC_SECONDS });
    one.requests.push(...requests.slice(sent));
    one.changes.push(...context.changes);
    one.after = this.#clusterCopy.now(object);
  }

  #contextOf(kind: Kind, object: ManagedObject): ReconcileContext {
    const { clusterID, formerClusterIDs, isClusterIDSet } = this.#input;
    const accountName = this.#input.accountNameOf(object);
    const { namespace, name } = object.metadata;
    return {
      kind,
      object,
      cluster: this.#clusterCopy,
      account: this.#account,
      memory: this.#memory,
      record: this.#memory.of(object),
      clock: this.#clock,
      dns: noRecords,
      owner: { cluster: clusterID, formerClusters: formerClusterIDs, namespace, name },
      isClusterIDSet,
      lane: "edit",
      signal: new AbortController().signal,
      accountName,
      specifiedAccountName: accountName,
      state: { next: {} },
      changes: [],
    };
  }

  /** Objects that have to be reconciled after these writes: their referrers, and objects that waited. */
  #dueAfterwards(): PlannedObject[] {
    const names = new Set(this.#clusterCopy.written);
    for (const name of this.#clusterCopy.written) {
      const { kind, before, after } = this.#planned.get(name) ?? {};
      const object = after ?? before;
      if (!kind || !object) continue;
      for (const referrer of this.#clusterCopy.referrersOf(kind, object)) names.add(keyWithKindOf(referrer.object));
    }
    return [...this.#planned.values()].filter(
      ({ before, after }) => after && (names.has(keyWithKindOf(before)) || isUnfinished(after)),
    );
  }
}

const isUnfinished = (object: ManagedObject): boolean =>
  isDeleting(object) ||
  retiringIDs(object.status).length > 0 ||
  ["Ready", "Synced"].some((type) => conditionOf(object.status, type)?.status !== "True");
