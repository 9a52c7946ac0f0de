import { idFromSpec } from "../../objects/identity.ts";
import { signedIntentOf } from "../../objects/intent.ts";
import { isDeleting, isObserveOnly, isObserver, isPaused, type ManagedObject } from "../../objects/object.ts";
import { leavesItsRemote } from "../../objects/origin.ts";
import type { EntryLocation } from "../../schema/define.ts";
import { appliedEntries } from "../../schema/wire/applied.ts";
import { type Claim, type Claims, sharedLists } from "../../schema/wire/shared.ts";
import type { ReconcileContext } from "../context.ts";
import { refuseUnreadableKind } from "../unreadable-kind.ts";

// Several objects and people may want one entry of a list: the object of the parent, whose spec lists it; objects that
// stand for single entries; and people who added it in the account. The entry is deleted when the last object that
// wants it is deleted. It stays if it was in the account before any of these objects.

/** Whether the remote stays in the account after this object is deleted, because others want it. */
export function isKeptForOthers(context: ReconcileContext, id: string): boolean {
  const { kind, object, state } = context;
  if (kind.location.type !== "entry") return false;
  const { location } = kind;
  // The status may still have the entry that was in the place of the one that this reconcile has found.
  const recorded = id === object.status?.id && object.status.preexisting;
  if (id === state.remote?.id ? (state.preexisting ?? recorded) : recorded) return true;
  const key = keyOf(id);
  const parents = parentsOf(context, location, id);
  const listed = parents.some((parent) => !isDeleting(parent) && lists(parent, location, key));
  return listed || siblingsOf(context, location, id).some((sibling) => wants(sibling) && mayHave(sibling, parents));
}

/** Whether an existing remote was in the account before any object of this operator could have created it. */
export function isPreexisting(context: ReconcileContext, id: string): boolean {
  const { location } = context.kind;
  if (location.type !== "entry") return false;
  const key = keyOf(id);
  const ours = (parent: ManagedObject) =>
    lists(parent, location, key) ||
    appliedEntries(location.parent.list, parent.status?.appliedFields ?? []).includes(key);
  return !parentsOf(context, location, id).some(ours) && !siblingsOf(context, location, id).some(mayHaveMade);
}

export function noteEntryOrigin({ state }: ReconcileContext, preexisting: boolean): void {
  state.preexisting = preexisting;
  state.origin = preexisting ? "Adopted" : "Created";
}

/** For each shared list of this object: the entries that other objects want in it, and those that they want removed. */
export function claimsOf({ kind, object, cluster }: Pick<ReconcileContext, "kind" | "object" | "cluster">): Claims {
  const id = object.status?.id;
  return Object.fromEntries(
    sharedLists(kind.spec).map(({ member, fields, trait }): [string, Claim] => {
      const listed = fields.flatMap((field) => entriesOf(object, field, trait.key));
      const added = fields.flatMap((field) => appliedEntries(field, object.status?.appliedFields ?? []));
      if (added.some((key) => !listed.includes(key)))
        refuseUnreadableKind(cluster, trait.kind, "InUse", `they may need what spec.${fields[0]} no longer lists`);
      const inside = id === undefined ? [] : cluster.othersWithRemoteID({ kind: trait.kind }, id, object);
      const named = cluster
        .referrersOf(kind, object)
        .filter((referrer) => referrer.kind.kind === trait.kind && cluster.shareAccount(referrer.object, object));
      const children = distinct([...inside, ...named.map((referrer) => referrer.object)]);
      const keys = (some: ManagedObject[]) => some.map(({ spec }) => String(spec[trait.key]));
      // An object that cannot be read may want what another one is about to remove.
      const leaving = cluster.visibilityOf(trait.kind) === "Unreadable" ? [] : children.filter(leaves);
      const wanted = keys(children.filter((child) => wants(child) && mayHave(child, [object])));
      return [member, { wanted, leaving: keys(leaving) }];
    }),
  );
}

const keyOf = (id: string): string => id.slice(id.indexOf("/") + 1);
const parentIDOf = (id: string): string => id.slice(0, id.indexOf("/"));

/** Objects that stand for the parent of this entry. */
function parentsOf(
  { cluster, object, kind }: ReconcileContext,
  { parent }: EntryLocation,
  id: string,
): ManagedObject[] {
  refuseUnreadableKind(cluster, parent.kind, "InUse", `an object of it may list this ${kind.kind}`);
  return cluster.othersWithRemoteID(parent, parentIDOf(id), object);
}

/** Other objects that stand for the same entry, including objects without an id. */
function siblingsOf(context: ReconcileContext, location: EntryLocation, id: string): ManagedObject[] {
  const { cluster, kind, object } = context;
  refuseUnreadableKind(cluster, kind.kind, "InUse", `one of them may stand for ${id}`);
  const named = parentsOf(context, location, id)
    .flatMap((parent) => cluster.referrersOf(location.parent, parent))
    .filter((referrer) => referrer.kind.kind === kind.kind && idFromSpec(kind, referrer.object, cluster) === id)
    .filter((referrer) => cluster.shareAccount(referrer.object, object));
  const all = distinct([...cluster.othersWithRemoteID(kind, id, object), ...named.map((referrer) => referrer.object)]);
  return all.filter(({ metadata }) => metadata.uid !== object.metadata.uid);
}

const distinct = (objects: readonly ManagedObject[]): ManagedObject[] => [
  ...new Map(objects.map((object) => [object.metadata.uid, object])).values(),
];

const lists = (object: ManagedObject, { parent, keyMember }: EntryLocation, wanted: string): boolean =>
  entriesOf(object, parent.list, keyMember).includes(wanted);

function entriesOf({ spec }: ManagedObject, field: string, key: string): unknown[] {
  const entries = spec[field];
  return Array.isArray(entries) ? entries.map((entry) => entry[key]) : [];
}

/**
 * Whether an object may have the entry that it wants: an object of its namespace manages the parent, or it was allowed
 * to take or create the entry. Without the right to adopt, no entry is added or kept for it.
 */
const mayHave = (object: ManagedObject, parents: readonly ManagedObject[]): boolean =>
  (object.status?.id !== undefined && !isObserver(object)) ||
  signedIntentOf(object) !== undefined ||
  parents.some((parent) => parent.metadata.namespace === object.metadata.namespace && !isObserver(parent));

const wants = (object: ManagedObject): boolean => !isDeleting(object) && !isObserveOnly(object);

/** Whether the object is about to remove its entry. While it is paused, it removes nothing. */
const leaves = (object: ManagedObject): boolean =>
  isDeleting(object) && !isPaused(object) && !leavesItsRemote(object) && !object.status?.preexisting;

/** Whether the object may have created the entry. Without an id and an intent, it has sent nothing. */
const mayHaveMade = (object: ManagedObject): boolean =>
  !isObserver(object) &&
  (object.status?.id === undefined ? signedIntentOf(object) !== undefined : !object.status.preexisting);
