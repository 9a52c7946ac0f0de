import { remoteIDsOf } from "../../objects/identity.ts";
import { type ManagedObject, retiringIDs } from "../../objects/object.ts";
import type { AccountQuestions, ObjectQuestions, Referrer } from "../../reconcile/cluster.ts";
import type { Store } from "../../runtime/cache/store.ts";
import { keyOf } from "../../runtime/object.ts";
import type { Kind } from "../../schema/define.ts";
import { targetKindsOf } from "../../schema/wire/needs.ts";
import { type IndexName, referenceKey } from "./indexes.ts";

export interface AccountSharing extends Pick<AccountQuestions, "isSameAccount"> {
  /** Whether the remotes of both are in one inventory. */
  isSameInventory: (one: ManagedObject, other: ManagedObject) => boolean;
}

type ObjectStore = Pick<Store<ManagedObject>, "get" | "list" | "by" | "put" | "forget">;

/** The objects of each kind, by the indexes of `indexersOf`. */
export type ObjectStores = ReadonlyMap<string, { readonly store: ObjectStore }>;

/** Answers a reconcile's questions about objects from the stores. */
export class CachedObjects implements ObjectQuestions {
  readonly kinds: readonly Kind[];
  readonly #stores: ObjectStores;
  readonly #accounts: AccountSharing;
  /** For each kind, those that can refer to it. */
  readonly #referring = new Map<string, readonly Kind[]>();

  constructor({ kinds, stores, accounts }: { kinds: readonly Kind[]; stores: ObjectStores; accounts: AccountSharing }) {
    this.kinds = kinds;
    this.#stores = stores;
    this.#accounts = accounts;
  }

  get(kind: string, namespace: string, name: string): ManagedObject | undefined {
    return this.#stores.get(kind)?.store.get(keyOf({ namespace, name }));
  }

  othersWithRemoteID({ kind }: Pick<Kind, "kind">, id: string, object: ManagedObject): ManagedObject[] {
    return this.#others(kind, "remoteID", id, object);
  }

  othersSpecifying({ kind }: Pick<Kind, "kind">, id: string, object: ManagedObject): ManagedObject[] {
    return [...this.#others(kind, "remoteID", id, object), ...this.#others(kind, "wantedID", id, object)];
  }

  /**
   * Other objects with this value. An object of another account counts only if its status has the remote: the same id
   * may belong to another remote there.
   */
  #others(kind: string, index: IndexName, id: string, object: ManagedObject): ManagedObject[] {
    const same = this.store(kind)
      .by(index, id)
      .filter((other) => other.metadata.uid !== object.metadata.uid);
    return same.filter((other) => hasRemote(other, id) || this.#accounts.isSameAccount(other, object));
  }

  othersListeningOn(address: string, object: ManagedObject): ManagedObject[] {
    return this.kinds
      .filter(({ listensOn }) => listensOn !== undefined)
      .flatMap(({ kind }) => this.store(kind).by("listenedOn", address))
      .filter((other) => other.metadata.uid !== object.metadata.uid && this.#accounts.isSameAccount(other, object));
  }

  inAccount({ kind }: Kind, object: ManagedObject): ManagedObject[] {
    const having = this.store(kind)
      .list()
      .filter(({ status }) => status?.id !== undefined);
    const byAccount = Map.groupBy(having, ({ metadata, status }) => `${metadata.namespace}/${status?.account ?? ""}`);
    const isSame = ([other]: ManagedObject[]) => other !== undefined && this.#accounts.isSameInventory(other, object);
    return [...byAccount.values()].filter(isSame).flat();
  }

  remoteIDsBeside(kind: Kind, object: ManagedObject): string[] {
    const beside = this.store(kind.kind)
      .list()
      .filter((other) => this.#accounts.isSameAccount(other, object));
    return [...new Set(beside.flatMap((other) => remoteIDsOf(kind, other)))];
  }

  referrersOf({ kind }: Pick<Kind, "kind">, object: ManagedObject): Referrer[] {
    const { namespace, name } = object.metadata;
    const byName = this.#referringTo(referenceKey(kind, namespace, name));
    const ids = new Set([object.status?.id ?? [], retiringIDs(object.status)].flat());
    const byID = [...ids].flatMap((id) => this.#referringTo(id));
    return [...byName, ...byID.filter((referrer) => this.#accounts.isSameAccount(referrer.object, object))];
  }

  #referringTo(reference: string): Referrer[] {
    const found: Referrer[] = [];
    for (const kind of this.kinds) {
      for (const object of this.store(kind.kind).by("references", reference)) found.push({ kind, object });
    }
    return found;
  }

  kindsReferringTo({ kind }: Pick<Kind, "kind">): readonly Kind[] {
    const known = this.#referring.get(kind) ?? this.kinds.filter(({ spec }) => targetKindsOf(spec).includes(kind));
    this.#referring.set(kind, known);
    return known;
  }

  /** Throws TypeError for a kind that has no store. */
  protected store(kind: string): ObjectStore {
    const known = this.#stores.get(kind);
    if (!known) throw new TypeError(`No informer for ${kind}`);
    return known.store;
  }
}

/** Whether the status says that the object has this remote, or an entry of one of its lists. */
const hasRemote = ({ status }: ManagedObject, id: string): boolean =>
  status?.id === id || status?.id?.startsWith(`${id}/`) === true || retiringIDs(status).includes(id);
