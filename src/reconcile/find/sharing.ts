import { identityOf } from "../../objects/identity.ts";
import { intentOf } from "../../objects/intent.ts";
import { isDeleting, isObserveOnly, isOrphan, isRetained, type ManagedObject } from "../../objects/object.ts";
import type { EntryPlace } from "../../schema/define.ts";
import { appliedEntries } from "../../schema/wire/applied.ts";
import { type Claim, type Claims, sharedLists } from "../../schema/wire/shared.ts";
import type { Pass } from "../context.ts";

// An entry of a list may be wanted by the object of the list itself, by objects that stand for single entries, and by
// others who have put it in by hand. What the last of these objects leaves goes, and what was there before them stays.

/** Whether the remote stays when this object lets go of it. */
export function staysForOthers(pass: Pass, id: string): boolean {
  const { kind, object, findings } = pass;
  if (kind.place.sort !== "entry") return false;
  const { place } = kind;
  const preexisting = findings.preexisting ?? object.status?.preexisting ?? false;
  if (preexisting && id === object.status?.id) return true;
  const key = keyOf(id);
  const listed = parentsOf(pass, place, id).some((parent) => !isDeleting(parent) && lists(parent, place, key));
  return listed || siblingsOf(pass, place, id).some(wants);
}

/** Whether a remote that is there already was there before all objects of ours. */
export function isPreexisting(pass: Pass, id: string): boolean {
  const { place } = pass.kind;
  if (place.sort !== "entry") return false;
  const key = keyOf(id);
  const ours = (parent: ManagedObject) =>
    lists(parent, place, key) || appliedEntries(place.parent.list, parent.status?.appliedFields ?? []).includes(key);
  return !parentsOf(pass, place, id).some(ours) && !siblingsOf(pass, place, id).some(mayHaveMade);
}

/** What objects that stand for single entries want of the lists of this one. */
export function claimsOf({ kind, object, cluster }: Pass): Claims {
  const id = object.status?.id;
  return Object.fromEntries(
    sharedLists(kind.spec).map(({ member, trait }): [string, Claim] => {
      const inside = id === undefined ? [] : cluster.othersWithID({ kind: trait.kind }, id, object);
      const named = cluster.referrersOf(kind, object).filter((referrer) => referrer.kind.kind === trait.kind);
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

/** Objects that stand for the resource whose list it is. */
const parentsOf = ({ cluster, object }: Pass, { parent }: EntryPlace, id: string): ManagedObject[] =>
  cluster.othersWithID(parent, parentIDOf(id), object);

/** Other objects that stand for the same entry, or are about to. */
function siblingsOf(pass: Pass, place: EntryPlace, id: string): ManagedObject[] {
  const { cluster, kind, object } = pass;
  const named = parentsOf(pass, place, id)
    .flatMap((parent) => cluster.referrersOf(place.parent, parent))
    .filter((referrer) => referrer.kind.kind === kind.kind && identityOf(kind, referrer.object, cluster) === id);
  const all = distinct([...cluster.othersWithID(kind, id, object), ...named.map((referrer) => referrer.object)]);
  return all.filter(({ metadata }) => metadata.uid !== object.metadata.uid);
}

const distinct = (objects: readonly ManagedObject[]): ManagedObject[] => [
  ...new Map(objects.map((object) => [object.metadata.uid, object])).values(),
];

function lists({ spec }: ManagedObject, { parent, key }: EntryPlace, wanted: string): boolean {
  const entries = spec[parent.list];
  return Array.isArray(entries) && entries.some((entry) => entry[key] === wanted);
}

const wants = (object: ManagedObject): boolean => !isDeleting(object) && !isObserveOnly(object);

const leaves = (object: ManagedObject): boolean =>
  isDeleting(object) &&
  !isObserveOnly(object) &&
  !isRetained(object) &&
  !isOrphan(object) &&
  !object.status?.preexisting;

/** One without an id has sent nothing as long as it has recorded no intent. */
const mayHaveMade = (object: ManagedObject): boolean =>
  !isObserveOnly(object) &&
  (object.status?.id === undefined ? intentOf(object) !== undefined : !object.status.preexisting);
