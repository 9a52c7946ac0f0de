import { type KubeObject, keyOf } from "../object.ts";
import { freeze } from "./freeze.ts";
import { Indexes } from "./indexes.ts";
import { Scope } from "./scope.ts";

/** One step in the life of one object in the store. Steps of one object are gapless and in order. */
export type Change<T extends KubeObject = KubeObject> =
  | { type: "added"; object: T; initial: boolean }
  | { type: "updated"; old: T; object: T; initial: false }
  | { type: "deleted"; object: T; initial: false };

export type Indexer<T extends KubeObject> = (object: T) => readonly string[];

export interface StoreOptions<T extends KubeObject> {
  /** Values under which an object is found with `by`; pure functions of the object. */
  indexers?: Readonly<Record<string, Indexer<T>>>;
  /** Called after the store has changed; must not throw. */
  onChange?: (change: Change<T>) => void;
  onError?: (error: unknown) => void;
}

/** What one reflector tells the store about its namespace, or about all of them. */
export interface Feed {
  /** A list is about to be asked for. */
  begin(): void;
  /** The list, complete and consistent at that resourceVersion. */
  replace(objects: readonly KubeObject[], resourceVersion: string): void;
  upsert(object: KubeObject): void;
  remove(object: KubeObject): void;
  /** Everything up to here has been told. */
  advance(resourceVersion: string): void;
}

/**
 * The last known state of all objects of one kind. Objects are deeply frozen and shared; managedFields and
 * the last-applied-configuration annotation are left out.
 *
 * An object never goes back: an older resourceVersion of the same uid is ignored. Another uid under the same
 * name is a deletion followed by an addition. Answers to own writes are folded in with `put` and `forget`,
 * so that the next read sees them before the watch has told.
 */
export class Store<T extends KubeObject = KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #namespaces = new Map<string, Map<string, T>>();
  readonly #scopes = new Map<string, Scope>();
  readonly #indexes: Indexes<T>;
  readonly #onChange: (change: Change<T>) => void;

  constructor({ indexers = {}, onChange = () => {}, onError = () => {} }: StoreOptions<T> = {}) {
    this.#indexes = new Indexes(indexers, onError);
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(namespace?: string): T[] {
    if (namespace === undefined) return [...this.#objects.values()];
    return [...(this.#namespaces.get(namespace)?.values() ?? [])];
  }

  /** Objects for which the indexer of that name gave that value. */
  by(index: string, value: string): T[] {
    return Array.from(this.#indexes.keys(index, value), (key) => this.#objects.get(key) as T);
  }

  /**
   * Folds in the answer of an own write; handlers are told. False when it is ignored, because the store knows
   * a newer state, or knows that the object has been deleted since.
   */
  put(object: T): boolean {
    const scope = this.#scopeOf(object);
    const known = this.#objects.get(keyOf(object));
    const revision = revisionOf(object);
    if (scope?.hasForgotten(uidOf(object)) || (known && revision <= revisionOf(known))) return false;
    // what the watch has passed and the store does not have, is gone
    if (!isSame(known, object) && scope && revision <= scope.revision) return false;
    this.#accept(object, false);
    return true;
  }

  /**
   * An own write removed the object for good. What the watch still has to tell about this uid is ignored,
   * up to its DELETED, or to a list asked for after now.
   */
  forget(key: string, uid: string): void {
    const known = this.#objects.get(key);
    // otherwise the watch was faster
    if (!known || uidOf(known) !== uid) return;
    this.#scopeOf(known)?.forget(uid);
    this.#drop(key, known);
  }

  /** The entrance for one reflector; "" is all namespaces. */
  feed(namespace = ""): Feed {
    const scope = new Scope();
    this.#scopes.set(namespace, scope);
    return {
      begin: () => scope.beginList(),
      replace: (objects, resourceVersion) => {
        const known = namespace ? this.#namespaces.get(namespace) : this.#objects;
        this.#replace(scope, new Map(known), objects as readonly T[], BigInt(resourceVersion));
      },
      upsert: (object) => this.#upsert(scope, object as T),
      remove: (object) => this.#remove(scope, object as T),
      advance: (resourceVersion) => scope.advance(BigInt(resourceVersion)),
    };
  }

  #scopeOf({ metadata: { namespace = "" } }: T): Scope | undefined {
    return this.#scopes.get("") ?? this.#scopes.get(namespace);
  }

  #upsert(scope: Scope, object: T): void {
    scope.advance(revisionOf(object));
    if (scope.hasForgotten(uidOf(object))) return;
    const known = this.#objects.get(keyOf(object));
    if (!known || revisionOf(object) > revisionOf(known)) this.#accept(object, false);
  }

  #remove(scope: Scope, object: T): void {
    scope.advance(revisionOf(object));
    scope.sawDeleted(uidOf(object));
    const key = keyOf(object);
    const known = this.#objects.get(key);
    if (isSame(known, object) && revisionOf(object) >= revisionOf(known)) this.#drop(key, known);
  }

  #replace(scope: Scope, vanished: Map<string, T>, objects: readonly T[], revision: bigint): void {
    const initial = !scope.listed;
    const rewound = scope.endList(revision);
    // an own write that is newer than the list stays
    const isOutdated = (known: T | undefined) => !known || rewound || revisionOf(known) <= revision;

    for (const object of objects) {
      if (scope.hasForgotten(uidOf(object))) continue;
      const key = keyOf(object);
      vanished.delete(key);
      if (isOutdated(this.#objects.get(key))) this.#accept(object, initial);
    }
    for (const [key, known] of vanished) if (isOutdated(known)) this.#drop(key, known);
  }

  #accept(given: T, initial: boolean): void {
    const key = keyOf(given);
    const known = this.#objects.get(key);
    const same = isSame(known, given);
    if (same && known.metadata.resourceVersion === given.metadata.resourceVersion) return;
    if (known && !same) this.#drop(key, known);

    const object = freeze(given);
    this.#objects.set(key, object);
    this.#namespaceOf(object).set(key, object);
    this.#indexes.replace(key, object);
    this.#onChange(same ? { type: "updated", old: known, object, initial: false } : { type: "added", object, initial });
  }

  #drop(key: string, known: T): void {
    this.#objects.delete(key);
    this.#namespaceOf(known).delete(key);
    if (this.#namespaceOf(known).size === 0) this.#namespaces.delete(known.metadata.namespace ?? "");
    this.#indexes.delete(key);
    this.#onChange({ type: "deleted", object: known, initial: false });
  }

  #namespaceOf({ metadata: { namespace = "" } }: T): Map<string, T> {
    const found = this.#namespaces.get(namespace);
    if (found) return found;
    const created = new Map<string, T>();
    this.#namespaces.set(namespace, created);
    return created;
  }
}

const uidOf = (object: KubeObject): string => object.metadata.uid ?? "";
const revisionOf = (object: KubeObject): bigint => BigInt(object.metadata.resourceVersion ?? 0);
const isSame = <T extends KubeObject>(known: T | undefined, object: T): known is T =>
  known !== undefined && uidOf(known) === uidOf(object);
