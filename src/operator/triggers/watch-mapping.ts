import { isDeepStrictEqual } from "node:util";
import type { Lane } from "../../account/requests/request-budget.ts";
import { isEdited } from "../../objects/annotations.ts";
import { listenedOn, naturalKeyOf, remoteIDsOf, setsNoModule } from "../../objects/identity.ts";
import {
  conditionOf,
  hasFinalizer,
  isDeleting,
  isObserver,
  isOlder,
  isReleased,
  type ManagedObject,
} from "../../objects/object.ts";
import { referenceCycle } from "../../objects/reference-cycle.ts";
import type { Change } from "../../runtime/cache/store.ts";
import type { Kind } from "../../schema/define.ts";
import { sentStatusFields } from "../../schema/wire/needs.ts";
import { type IndexName, type Informers, referenceKey, referencesOf } from "../kubernetes/indexes.ts";

export interface EnqueueRequest {
  kind: string;
  key: string;
  lane: Lane;
}

interface Caches {
  kinds: readonly Kind[];
  informers: Informers;
}

/** The objects to reconcile because `change` happened to an object of this kind. */
export function requestsFor(kind: Kind, change: Change<ManagedObject>, cached: Caches): EnqueueRequest[] {
  return [
    ...forObject(kind, change),
    ...forReferrers(kind, change, cached),
    ...forCycle(kind, change, cached),
    ...forDeletingTargets(kind, change, cached.informers),
    ...forSharersOfRemote(kind, change, cached.informers),
    ...forSharersOfAddress(kind, change, cached.informers),
  ];
}

function forObject({ kind }: Kind, change: Change<ManagedObject>): EnqueueRequest[] {
  if (change.type === "deleted" || (change.type === "updated" && !needsReconcile(change.old, change.object))) return [];
  return [requestFor(kind, change.object, change.type === "added" && change.initial ? "sync" : "edit")];
}

const needsReconcile = (old: ManagedObject, object: ManagedObject): boolean =>
  isEdited(old, object) || (hasFinalizer(old) === true && !hasFinalizer(object));

/** Objects that refer to this one, if they may wait for it or send a value of its status that changed. */
function forReferrers({ kind }: Kind, change: Change<ManagedObject>, { kinds, informers }: Caches): EnqueueRequest[] {
  const { object } = change;
  if (change.type === "updated" && !affectsReferrers(change.old, object, sentStatusFields(kind, kinds))) return [];
  if (change.type === "added" && change.initial) return [];
  const reference = referenceKey(kind, object.metadata.namespace, object.metadata.name);
  return requestsByIndex(informers, "references", reference);
}

const affectsReferrers = (old: ManagedObject, object: ManagedObject, sentFields: readonly string[]): boolean =>
  sentFields.some((field) => !isDeepStrictEqual(old.status?.[field], object.status?.[field])) ||
  old.metadata.deletionTimestamp !== object.metadata.deletionTimestamp;

/**
 * All objects of a cycle of references that this change closes, and those that were in one and may go on. Only the next
 * one in it refers to the object that changed. An object that now says that it is stuck is looked at again if the cycle
 * has ended meanwhile: the change that ended it could not know.
 */
function forCycle(kind: Kind, change: Change<ManagedObject>, { kinds, informers }: Caches): EnqueueRequest[] {
  if (change.type === "added") return change.initial ? [] : membersOfCycle(change.object, { kinds, informers });
  const { object } = change;
  if (change.type === "deleted") return stuckBehind(object, informers);
  const hasChanged =
    affectsReferrers(change.old, object, sentStatusFields(kind.kind, kinds)) ||
    !isDeepStrictEqual(referencesOf(kind, change.old), referencesOf(kind, object));
  if (hasChanged) return [...stuckBehind(object, informers), ...membersOfCycle(object, { kinds, informers })];
  const saysTooLate = !isStuck(change.old) && isStuck(object) && !membersOfCycle(object, { kinds, informers }).length;
  return saysTooLate ? [requestFor(kind.kind, object, "edit")] : [];
}

const isStuck = ({ status }: ManagedObject): boolean => conditionOf(status, "Ready")?.reason === "ReferenceCycle";

function membersOfCycle(object: ManagedObject, { kinds, informers }: Caches): EnqueueRequest[] {
  const get = (kind: string, namespace: string, name: string) => informers.get(kind)?.store.get(`${namespace}/${name}`);
  // The store may have a newer state of the object than the change.
  const latest = get(object.kind, object.metadata.namespace, object.metadata.name);
  const cycle = latest && referenceCycle(latest, { kinds, get });
  return (cycle ?? []).map((one) => requestFor(one.kind, one, "edit"));
}

/** Objects that are stuck in a cycle and refer to this one, directly or over others that are stuck too. */
function stuckBehind(object: ManagedObject, informers: Informers): EnqueueRequest[] {
  const stuck = new Set<ManagedObject>();
  const reached = [object];
  for (const { kind, metadata } of reached) {
    const reference = referenceKey(kind, metadata.namespace, metadata.name);
    for (const referrer of objectsByIndex(informers, "references", reference)) {
      if (stuck.has(referrer) || !isStuck(referrer)) continue;
      stuck.add(referrer);
      reached.push(referrer);
    }
  }
  return [...stuck].map((one) => requestFor(one.kind, one, "edit"));
}

/** Objects that are being deleted and to which this object no longer refers: they may have waited for that. */
function forDeletingTargets(kind: Kind, change: Change<ManagedObject>, informers: Informers): EnqueueRequest[] {
  if (change.type === "added") return [];
  const before = change.type === "updated" ? change.old : change.object;
  const after =
    change.type === "deleted" || change.object.metadata.deletionTimestamp ? [] : referencesOf(kind, change.object);
  return referencesOf(kind, before)
    .filter((reference) => !after.includes(reference))
    .flatMap((reference) => targetsOfReference(reference, informers))
    .filter((object) => object.metadata.deletionTimestamp !== undefined)
    .map((object) => requestFor(object.kind, object, "edit"));
}

/** The objects that an entry of the index of references means: one by name, or all with a remote id. */
function targetsOfReference(reference: string, informers: Informers): ManagedObject[] {
  const [kind = "", namespace, name] = reference.split("/");
  if (name === undefined) return objectsByIndex(informers, "remoteID", reference);
  const object = informers.get(kind)?.store.get(`${namespace}/${name}`);
  return object ? [object] : [];
}

/**
 * Other objects of a remote or natural key that this object has taken or released. Only one of them may manage it, and
 * the others wait for it.
 */
function forSharersOfRemote(kind: Kind, change: Change<ManagedObject>, informers: Informers): EnqueueRequest[] {
  if (change.type === "added" && change.initial) return [];
  const { object } = change;
  const had = change.type === "added" ? none : takenBy(kind, change.type === "updated" ? change.old : object);
  const has = change.type === "deleted" ? none : takenBy(kind, object);
  const ids = differing(had.ids, has.ids);
  const names = differing(had.names, has.names);
  const others = (index: IndexName, values: readonly string[]) =>
    values.flatMap((value) => informers.get(kind.kind)?.store.by(index, value) ?? []);
  return [...others("remoteID", ids), ...others("wantedID", ids), ...others("naturalKey", names)]
    .filter((other) => other.metadata.uid !== object.metadata.uid)
    .map((other) => requestFor(kind.kind, other, "edit"));
}

/**
 * Younger objects that listen on an address of this one: they say so while it listens there. The younger one itself when
 * it begins to: the older one may have begun after the reconcile had looked, and before the index knew the younger one.
 */
function forSharersOfAddress(kind: Kind, change: Change<ManagedObject>, informers: Informers): EnqueueRequest[] {
  if (kind.listensOn === undefined || (change.type === "added" && change.initial)) return [];
  const { object } = change;
  const addressesOf = (one: ManagedObject) => (isDeleting(one) ? [] : listenedOn(kind, one.status));
  const had = change.type === "added" ? [] : addressesOf(change.type === "updated" ? change.old : object);
  const has = change.type === "deleted" ? [] : addressesOf(object);
  return differing(had, has).flatMap((address) =>
    objectsByIndex(informers, "listenedOn", address).flatMap((other) => {
      if (isOlder(object, other)) return [requestFor(other.kind, other, "edit")];
      return isOlder(other, object) && has.includes(address) ? [requestFor(kind.kind, object, "edit")] : [];
    }),
  );
}

const none = { ids: [], names: [] };

/**
 * The id and natural key that this object takes, so that other objects have to wait. None if the object only observes,
 * sets no module, or is released to another object.
 */
function takenBy(kind: Kind, object: ManagedObject): { ids: string[]; names: string[] } {
  if (isObserver(object) || isReleased(object) || setsNoModule(kind, object)) return none;
  const name = naturalKeyOf(kind, object.spec);
  // A name is taken as long as the remote exists. When the object is deleted it is free.
  return { ids: remoteIDsOf(kind, object), names: name === undefined ? [] : [name] };
}

const differing = (some: readonly string[], others: readonly string[]): string[] => [
  ...some.filter((one) => !others.includes(one)),
  ...others.filter((one) => !some.includes(one)),
];

/** The objects of all kinds with this value in this index. */
export function requestsByIndex(
  informers: Informers,
  index: "references" | "remoteID" | "wantedID",
  value: string,
  lane: Lane = "edit",
): EnqueueRequest[] {
  return objectsByIndex(informers, index, value).map((object) => requestFor(object.kind, object, lane));
}

/** Every change asks all stores, and most of them have nothing. */
function objectsByIndex(informers: Informers, index: IndexName, value: string): ManagedObject[] {
  const found: ManagedObject[] = [];
  informers.forEach(({ store }) => {
    for (const object of store.by(index, value)) found.push(object);
  });
  return found;
}

const requestFor = (kind: string, { metadata }: ManagedObject, lane: Lane): EnqueueRequest => ({
  kind,
  key: `${metadata.namespace}/${metadata.name}`,
  lane,
});
