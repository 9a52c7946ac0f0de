import { randomUUID } from "node:crypto";
import { type KubeObject, keyOf } from "../../../src/runtime/object.ts";

export interface Written {
  collection: string;
  revision: number;
  type: "ADDED" | "MODIFIED" | "DELETED";
  object: KubeObject;
}

/** The error answer to a request. */
export class Refused extends Error {
  readonly code: number;
  readonly reason: string;
  constructor(code: number, reason: string, message = reason) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

/** The objects of all collections with one growing revision, and the history that watches read. */
export class FakeStorage {
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #listeners = new Set<(written: Written) => void>();
  #history: Written[] = [];
  #revision = 100;
  #compacted = 100;

  get revision(): number {
    return this.#revision;
  }

  list(collection: string, namespace?: string): KubeObject[] {
    const all = [...(this.#objects.get(collection)?.values() ?? [])];
    return namespace === undefined ? all : all.filter((object) => object.metadata.namespace === namespace);
  }

  get(collection: string, key: string): KubeObject | undefined {
    return this.#objects.get(collection)?.get(key);
  }

  create(collection: string, given: KubeObject): KubeObject {
    const key = keyOf(given);
    if (this.get(collection, key)) throw new Refused(409, "AlreadyExists", `${key} already exists`);
    const metadata = { ...given.metadata, uid: randomUUID(), generation: 1, creationTimestamp: "2026-01-01T00:00:00Z" };
    return this.#write(collection, "ADDED", { ...given, metadata });
  }

  /** Checks resourceVersion and uid if the new object has them. Writes nothing when nothing changes. */
  update(collection: string, key: string, change: (current: KubeObject) => KubeObject): KubeObject {
    const current = this.get(collection, key);
    if (!current) throw new Refused(404, "NotFound", `${key} not found`);
    const next = change(current);
    const { resourceVersion, uid } = current.metadata;
    if ((next.metadata.resourceVersion ?? resourceVersion) !== resourceVersion) throw new Refused(409, "Conflict");
    if ((next.metadata.uid ?? uid) !== uid) throw new Refused(409, "Conflict");
    const generation = (current.metadata.generation ?? 0) + (same(next["spec"], current["spec"]) ? 0 : 1);
    const object = {
      ...next,
      metadata: { ...next.metadata, uid: uid as string, resourceVersion: resourceVersion as string, generation },
    };
    if (same(object, current)) return current;
    if (object.metadata.deletionTimestamp && !object.metadata.finalizers?.length)
      return this.#remove(collection, key, object);
    return this.#write(collection, "MODIFIED", object);
  }

  delete(collection: string, key: string, preconditions: { uid?: string; resourceVersion?: string } = {}): KubeObject {
    const current = this.get(collection, key);
    if (!current) throw new Refused(404, "NotFound", `${key} not found`);
    const { uid, resourceVersion } = { ...current.metadata, ...preconditions };
    if (uid !== current.metadata.uid || resourceVersion !== current.metadata.resourceVersion)
      throw new Refused(409, "Conflict");
    if (!current.metadata.finalizers?.length) return this.#remove(collection, key, current);
    const metadata = { ...current.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
    return this.update(collection, key, () => ({ ...current, metadata }));
  }

  /** Undefined when the history does not reach back that far. */
  since(collection: string, revision: number): Written[] | undefined {
    if (revision < this.#compacted) return undefined;
    return this.#history.filter((written) => written.collection === collection && written.revision > revision);
  }

  compact(): void {
    this.#compacted = this.#revision;
    this.#history = [];
  }

  /** Restores a backup: these objects, at an old revision. Watches get no events. */
  restore(collection: string, objects: readonly KubeObject[], revision: number): void {
    this.#objects.set(collection, new Map(objects.map((object) => [keyOf(object), object])));
    this.#revision = revision;
    this.#compacted = revision;
    this.#history = [];
  }

  onWrite(listener: (written: Written) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #remove(collection: string, key: string, object: KubeObject): KubeObject {
    this.#objects.get(collection)?.delete(key);
    return this.#record(collection, "DELETED", object);
  }

  #write(collection: string, type: "ADDED" | "MODIFIED", object: KubeObject): KubeObject {
    const written = this.#record(collection, type, object);
    const objects = this.#objects.get(collection) ?? new Map<string, KubeObject>();
    this.#objects.set(collection, objects.set(keyOf(written), written));
    return written;
  }

  #record(collection: string, type: Written["type"], given: KubeObject): KubeObject {
    this.#revision += 1;
    const object = { ...given, metadata: { ...given.metadata, resourceVersion: String(this.#revision) } };
    const written = { collection, revision: this.#revision, type, object };
    this.#history.push(written);
    for (const listener of this.#listeners) listener(written);
    return object;
  }
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
