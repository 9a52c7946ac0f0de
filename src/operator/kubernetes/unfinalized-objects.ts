import { LRUCache } from "lru-cache";
import { isDeleting, isPaused, keyWithKindOf, type ManagedObject, type Status } from "../../objects/object.ts";
import type { Clock } from "../../runtime/clock.ts";
import { FINALIZER } from "../../schema/contract.ts";

/**
 * The API server ends a DELETE after 60 s. So a DELETE that began before the finalizer was added takes effect within
 * this time.
 */
const LATEST_MS = 120_000;

const MOST_REMEMBERED = 10_000;

/**
 * Objects that the API server has deleted although they had the finalizer. A DELETE that read an object without
 * finalizers deletes it, even if the object gets one meanwhile. The operator then deletes the remote as it would have
 * done with the finalizer. If the process dies before that, the remote stays, with its owner mark.
 */
export class UnfinalizedObjects {
  readonly #clock: Clock;
  readonly #onFinish: (object: ManagedObject) => void;
  readonly #objects = new Map<string, ManagedObject>();
  /** When this process gave an object the finalizer, by uid. */
  readonly #added = new LRUCache<string, number>({ max: MOST_REMEMBERED });

  /** `onFinish` is called when the remote of an object is deleted, or left on purpose. */
  constructor(clock: Clock, onFinish: (object: ManagedObject) => void = () => {}) {
    this.#clock = clock;
    this.#onFinish = onFinish;
  }

  get all(): ManagedObject[] {
    return [...this.#objects.values()];
  }

  /** Call it before the object gets the finalizer. */
  finalizerAdded({ metadata }: ManagedObject): void {
    this.#added.set(metadata.uid, this.#clock.now());
  }

  /** Call it with the last state of a deleted object. Returns false if nothing has to be deleted for it. */
  record(object: ManagedObject): boolean {
    const { uid, finalizers = [] } = object.metadata;
    if (this.has(object)) return true;
    const addedAt = this.#added.get(uid) ?? Number.NEGATIVE_INFINITY;
    const isRecent = this.#clock.now() - addedAt < LATEST_MS;
    if (!isRecent || !finalizers.includes(FINALIZER) || isDeleting(object) || isPaused(object)) return false;
    const deletionTimestamp = this.#clock.date().toISOString();
    this.#objects.set(keyWithKindOf(object), { ...object, metadata: { ...object.metadata, deletionTimestamp } });
    return true;
  }

  /** The object of this key (`<namespace>/<name>`), with a deletionTimestamp. */
  get(kind: string, key: string): ManagedObject | undefined {
    return this.#objects.get(`${kind}/${key}`);
  }

  has(object: ManagedObject): boolean {
    return this.#objects.get(keyWithKindOf(object))?.metadata.uid === object.metadata.uid;
  }

  /** Call it instead of writing the status, for an object for which `has` is true. */
  setStatus(object: ManagedObject, status: Status): void {
    const known = this.#objects.get(keyWithKindOf(object));
    if (known) this.#objects.set(keyWithKindOf(object), { ...known, status });
  }

  /** Call it when the remote is deleted, or left on purpose. */
  finish(object: ManagedObject): void {
    this.#added.delete(object.metadata.uid);
    this.#objects.delete(keyWithKindOf(object));
    this.#onFinish(object);
  }
}
