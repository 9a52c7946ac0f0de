import { idFromSpec } from "../../objects/identity.ts";
import { signedIntentOf } from "../../objects/intent.ts";
import { isDeleting, isObserveOnly, isOrphan, type ManagedObject } from "../../objects/object.ts";
import { isRetained } from "../../objects/origin.ts";
import type { EntryLocation } from "../../schema/define.ts";
import { appliedEntries } from "../../schema/wire/applied.ts";
import { type Claim, type Claims, sharedLists } from "../../schema/wire/shared.ts";
import type { ReconcileContext } from "../context.ts";

// Several may want one entry of a list: the object of the parent, whose spec lists it; objects that stand for single
// entries; and people who added it in the account. The entry is deleted when the last object that wants it goes. It
// stays if it was in the account before any of these objects.

/** Whether the remote stays in the account after this object is deleted, because others want it. */
export function staysForOthers(context: ReconcileContext, id: string): boolean {
  const { kind, object, state } = context;
  if (kind.location.type !== "entry") return false;
  const { location } = kind;
  const preexisting = state.preexisting ?? object.status?.preexisting ?? false;
  if (preexisting && id === object.status?.id) return true;
  const key = keyOf(id);
  const listed = parentsOf(context, location, id).some((parent) => !isDeleting(parent) && lists(parent, location, key));
  return listed || siblingsOf(context, location, id).some(wants);
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

/** For each shared list of this object: the entries that other objects want in it, and those that they want removed. */
export function claimsOf({ kind, object, cluster }: ReconcileContext): Claims {
  const id = object.status?.id;
  return Object.fromEntries(
    sharedLists(kind.spec).map(({ member, trait }): [string, Claim] => {
      const inside = id === undefined ? [] : cluster.othersWithRemoteID({ kind: trait.kind }, id, object);
      const named = cluster
        .referrersOf(kind, object)
        .filter((referrer) => referrer.kind.kind === trait.kind && cluster.shareAccount(referrer.object, object));
      const children = distinct([...inside, ...named.map((referrer) => referrer.object)]);
      const keys = (some: ManagedObject[]) => some.map(({ spec }) => String(spec[trait.key]));
      const wanted = keys(children.filter(wants));
      const leaving = keys(children.filter(leaves)).filter((key) => !wanted.includes(key));
      return [member, { wanted, leaving }];
    }),
  );
}

const keyOf = (id: string): string => id.slice(id.indexOf("/") + 1);
const parentIDOf = (id: string): string => id.slice(0, id.indexOf("/"));

/** Objects that stand for the parent of this entry. */
const parentsOf = ({ cluster, object }: ReconcileContext, { parent }: EntryLocation, id: string): ManagedObject[] =>
  cluster.othersWithRemoteID(parent, parentIDOf(id), object);

/** Other objects that stand for the same entry, including those that have no id yet. */
function siblingsOf(context: ReconcileContext, location: EntryLocation, id: string): ManagedObject[] {
  const { cluster, kind, object } = context;
  const named = parentsOf(context, location, id)
    .flatMap((parent) => cluster.referrersOf(location.parent, parent))
    .filter((referrer) => referrer.kind.kind === kind.kind && idFromSpec(kind, referrer.object, cluster) === id);
  const all = distinct([...cluster.othersWithRemoteID(kind, id, object), ...named.map((referrer) => referrer.object)]);
  return all.filter(({ metadata }) => metadata.uid !== object.metadata.uid);
}

const distinct = (objects: readonly ManagedObject[]): ManagedObject[] => [
  ...new Map(objects.map((object) => [object.metadata.uid, object])).values(),
];

function lists({ spec }: ManagedObject, { parent, keyMember }: EntryLocation, wanted: string): boolean {
  const entries = spec[parent.list];
  return Array.isArray(entries) && entries.some((entry) => entry[keyMember] === wanted);
}

const wants = (object: ManagedObject): boolean => !isDeleting(object) && !isObserveOnly(object);

const leaves = (object: ManagedObject): boolean =>
  isDeleting(object) &&
  !isObserveOnly(object) &&
  !isRetained(object) &&
  !isOrphan(object) &&
  !object.status?.preexisting;

/** Whether the object may have created the entry. Without an id and an intent it has sent nothing. */
const mayHaveMade = (object: ManagedObject): boolean =>
  !isObserveOnly(object) &&
  (object.status?.id === undefined ? signedIntentOf(object) !== undefined : !object.status.preexisting);
