import { type KubeObject, keyOf } from "../object.ts";
import { FeedState } from "./feed-state.ts";
import { freeze } from "./freeze.ts";
import { Indexes } from "./indexes.ts";
import { newest } from "./newest.ts";

/** A change of one object in the store. The changes of an object arrive in order, and `old` is the `object` before. */
export type Change<T extends KubeObject = KubeObject> =
  | { type: "added"; object: T; initial: boolean }
  | { type: "updated"; old: T; object: T; initial: false }
  | { type: "deleted"; object: T; initial: false };

export type Indexer<T extends KubeObject> = (object: T) => readonly string[];

export interface StoreOptions<T extends KubeObject> {
  /** Pure functions. An indexer returns the values under which `by` finds the object. */
  indexers?: Readonly<Record<string, Indexer<T>>>;
  /** Called after the store has changed; must not throw. */
  onChange?: (change: Change<T>) => void;
  onError?: (error: unknown) => void;
}

/** How a reflector writes to the store. A feed covers one namespace, or all namespaces. */
export interface Feed {
  /** A list is about to be requested. */
  beginList(): void;
  /** Delivers the complete list, as it was at this resourceVersion. */
  replace(objects: readonly KubeObject[], resourceVersion: string): void;
  upsert(object: KubeObject): void;
  remove(object: KubeObject): void;
  /** Declares that everything up to this resourceVersion has been delivered. */
  advance(resourceVersion: string): void;
}

/**
 * The last known state of all objects of one kind. Objects are deeply frozen and shared with all readers. They have no
 * managedFields and no last-applied-configuration annotation.
 *
 * - An object never becomes older: an older resourceVersion of the same uid is ignored.
 * - Another uid under the same name is a deletion followed by an addition.
 * - Call `put` or `forget` after an own write, so that the next read sees it before the watch delivers it.
 */
export class Store<T extends KubeObject = KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #namespaces = new Map<string, Map<string, T>>();
  readonly #feeds = new Map<string, FeedState>();
  readonly #indexes: Indexes<T>;
  readonly #onChange: (change: Change<T>) => void;

  constructor({ indexers = {}, onChange = () => {}, onError = () => {} }: StoreOptions<T> = {}) {
    this.#indexes = new Indexes(indexers, onError);
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#objects.size;
  }

  /** The newest resourceVersion that a feed has delivered. */
  get revision(): bigint {
    return newest(Array.from(this.#feeds.values(), ({ revision }) => revision));
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(namespace?: string): T[] {
    if (namespace === undefined) return [...this.#objects.values()];
    return [...(this.#namespaces.get(namespace)?.values() ?? [])];
  }

  /** All objects for which this indexer returned this value. */
  by(index: string, value: string): T[] {
    return this.#indexes.keys(index, value).map((key) => this.#objects.get(key) as T);
  }

  /**
   * Stores the answer to an own write, which calls the handlers. False when the answer is ignored, because the store
   * has a newer state or knows that the object has been deleted since.
   */
  put(object: T): boolean {
    const feed = this.#feedOf(object);
    const known = this.#objects.get(keyOf(object));
    const revision = revisionOf(object);
    if (feed?.hasTombstone(uidOf(object)) || (known && revision <= revisionOf(known))) return false;
    // The watch is past this write, so an object that the store does not have was deleted.
    if (!isSame(known, object) && feed && revision <= feed.revision) return false;
    this.#accept(object, false);
    return true;
  }

  /**
   * Removes an object that an own write has deleted for good. Watch events of this uid that are still to come are
   * ignored up to its DELETED, or to a list that is requested from now on.
   */
  forget(key: string, uid: string): void {
    const known = this.#objects.get(key);
    // The watch has delivered the deletion already.
    if (!known || uidOf(known) !== uid) return;
    this.#feedOf(known)?.addTombstone(uid);
    this.#drop(key, known);
  }

  /** The feed for one reflector; "" is all namespaces. */
  feed(namespace = ""): Feed {
    const feed = new FeedState();
    this.#feeds.set(namespace, feed);
    return {
      beginList: () => feed.beginList(),
      replace: (objects, resourceVersion) => {
        const known = namespace ? this.#namespaces.get(namespace) : this.#objects;
        this.#replace(feed, new Map(known), objects as readonly T[], BigInt(resourceVersion));
      },
      upsert: (object) => this.#upsert(feed, object as T),
      remove: (object) => this.#remove(feed, object as T),
      advance: (resourceVersion) => feed.advance(BigInt(resourceVersion)),
    };
  }

  #feedOf({ metadata: { namespace = "" } }: T): FeedState | undefined {
    return this.#feeds.get("") ?? this.#feeds.get(namespace);
  }

  #upsert(feed: FeedState, object: T): void {
    feed.advance(revisionOf(object));
    if (feed.hasTombstone(uidOf(object))) return;
    const known = this.#objects.get(keyOf(object));
    if (!known || revisionOf(object) > revisionOf(known)) this.#accept(object, false);
  }

  #remove(feed: FeedState, object: T): void {
    feed.advance(revisionOf(object));
    feed.removeTombstone(uidOf(object));
    const key = keyOf(object);
    const known = this.#objects.get(key);
    if (isSame(known, object) && revisionOf(object) >= revisionOf(known)) this.#drop(key, known);
  }

  #replace(feed: FeedState, vanished: Map<string, T>, objects: readonly T[], revision: bigint): void {
    const initial = !feed.listed;
    const rewound = feed.endList(revision);
    // An own write may be newer than the list. Then it stays.
    const isOutdated = (known: T | undefined) => !known || rewound || revisionOf(known) <= revision;

    for (const object of objects) {
      if (feed.hasTombstone(uidOf(object))) continue;
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
