import { listenedOn, naturalKeyOf, parentIDsOf, remoteIDsOf, wantedIDOf } from "../../objects/identity.ts";
import type { ManagedObject } from "../../objects/object.ts";
import type { Informer } from "../../runtime/cache/informer.ts";
import type { Indexer, Store } from "../../runtime/cache/store.ts";
import type { Kind } from "../../schema/define.ts";
import { needsOf } from "../../schema/wire/needs.ts";
import { secrets } from "./resource-types.ts";

export type Informers = ReadonlyMap<string, Informer<ManagedObject>>;

/** Objects of one kind, to be listed only. */
export interface Listed {
  readonly store: Pick<Store<ManagedObject>, "list">;
}

/** The objects of each kind, to be listed only. */
export type Stores = ReadonlyMap<string, Listed>;

/** Names an object of any kind in the index `references`. */
export const referenceKey = (kind: string, namespace: string, name: string): string => `${kind}/${namespace}/${name}`;

/**
 * `referenceKey`s of the objects that a spec refers to by name, and of the Secrets that are read or written for it. Where
 * it refers to a remote by id, the id.
 */
export function referencesOf(kind: Kind, { metadata, spec }: ManagedObject): string[] {
  const { namespace } = metadata;
  const written = kind.output && (spec[kind.output.field] as string | undefined);
  const references = needsOf(kind.spec, spec).flatMap((need) => {
    if (need.type === "secret") return [referenceKey(secrets.kind, namespace, need.name)];
    if (need.type !== "reference") return [];
    if (need.to.name === undefined) return need.to.id ?? [];
    return [referenceKey(need.to.kind ?? need.trait.kinds[0] ?? "", namespace, need.to.name)];
  });
  return written === undefined ? references : [...references, referenceKey(secrets.kind, namespace, written)];
}

/**
 * `wantedID`: objects that are to adopt a remote and have none yet. `naturalKey`: those that want the same name.
 * `listenedOn`: those that listen on an address.
 */
export type IndexName = "remoteID" | "wantedID" | "naturalKey" | "listenedOn" | "references";

/** The indexes of a kind's store. */
export const indexersOf = (kind: Kind): Record<IndexName, Indexer<ManagedObject>> => ({
  remoteID: (object) => [...new Set([...remoteIDsOf(kind, object), ...parentIDsOf(kind, object)])],
  wantedID: (object) => [wantedIDOf(object) ?? []].flat(),
  naturalKey: ({ spec }) => [naturalKeyOf(kind, spec) ?? []].flat(),
  listenedOn: ({ status }) => listenedOn(kind, status),
  references: (object) => [...new Set(referencesOf(kind, object))],
});
