import type { Account } from "../../account/account.ts";
import type { Entries } from "../../account/remotes/entries.ts";
import { idFromSpec } from "../../objects/identity.ts";
import { signedIntentOf } from "../../objects/intent.ts";
import { isDeleting, isObserveOnly, isObserver, isPaused, type ManagedObject } from "../../objects/object.ts";
import { leavesItsRemote } from "../../objects/origin.ts";
import { Retry } from "../../objects/reconcile-error.ts";
import type { EntryLocation, Kind } from "../../schema/define.ts";
import { appliedEntries } from "../../schema/wire/applied.ts";
import { type Claim, type Claims, sharedLists } from "../../schema/wire/shared.ts";
import type { ReconcileContext } from "../context.ts";
import { isUnseen } from "../unseen.ts";

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

/**
 * Call it when an entry stays because others want it, before this object goes. An object that has not taken the entry
 * yet could not tell later that no person has made it.
 */
export function leaveEntry(context: ReconcileContext, id: string): void {
  const { kind, object, state } = context;
  if (kind.location.type !== "entry" || (state.preexisting ?? object.status?.preexisting)) return;
  const parents = parentsOf(context, kind.location, id);
  const wanting = siblingsOf(context, kind.location, id).filter((one) => wants(one) && mayHave(one, parents));
  leaveTo(context, kind, id, wanting);
}

/** Like `leaveEntry`, for the entries that this object has added to its shared lists and no longer lists. */
export function leaveDroppedEntries(context: ReconcileContext): void {
  const { object } = context;
  for (const { id, kind, key, value } of droppedFrom(context)) {
    const wanting = childrenOf(context, kind.kind).filter(wantsEntryOf(object));
    const others = wanting.filter(({ spec }) => spec[key] === value);
    leaveTo(context, kind, id, others);
  }
}

interface Dropped {
  id: string;
  /** Of the objects that stand for single entries. */
  kind: Kind;
  /** The field that names an entry, and its value. */
  key: string;
  value: string;
}

/** The entries that this object has added to its shared lists and no longer lists. */
export const droppedFrom = ({ kind, object, cluster }: Sharing): Dropped[] =>
  sharedLists(kind.spec).flatMap(({ fields, trait }) => {
    const entryKind = cluster.kinds.find((one) => one.kind === trait.kind);
    const dropped = entryKind ? droppedEntries(object, fields, trait.key) : [];
    return dropped.map((value) => ({
      id: `${object.status?.id}/${value}`,
      kind: entryKind as Kind,
      key: trait.key,
      value,
    }));
  });

function leaveTo({ account }: ReconcileContext, kind: Kind, id: string, others: readonly ManagedObject[]): void {
  if (others.length > 0 && others.every(({ status }) => status?.id !== id)) entriesOfKind(account, kind).leave(id);
}

/** Call it when the status of the object says where its entry came from. */
export const forgetLeftEntry = ({ account, kind }: ReconcileContext, id: string): void =>
  entriesOfKind(account, kind).forgetLeft(id);

const entriesOfKind = (account: Account, kind: Kind): Entries => account.remotes(kind) as Entries;

/** Whether an existing remote was in the account before any object of this operator could have created it. */
export function isPreexisting(context: ReconcileContext, id: string): boolean {
  const { account, kind } = context;
  const { location } = kind;
  if (location.type !== "entry" || entriesOfKind(account, kind).isLeft(id)) return false;
  const key = keyOf(id);
  const ours = (parent: ManagedObject) =>
    (!isObserver(parent) && lists(parent, location, key)) ||
    appliedEntries(location.parent.list, parent.status?.appliedFields ?? []).includes(key);
  return !parentsOf(context, location, id).some(ours) && !siblingsOf(context, location, id).some(mayHaveMade);
}

export function noteEntryOrigin({ state }: ReconcileContext, preexisting: boolean): void {
  state.preexisting = preexisting;
  state.origin = preexisting ? "Adopted" : "Created";
}

type Sharing = Pick<ReconcileContext, "kind" | "object" | "cluster">;

/** For each shared list of this object: the entries that other objects want in it, and those that they want removed. */
export function claimsOf(context: Sharing): Claims {
  const { kind, object, cluster } = context;
  return Object.fromEntries(
    sharedLists(kind.spec).map(({ member, trait }): [string, Claim] => {
      const children = childrenOf(context, trait.kind);
      const keys = (some: ManagedObject[]) => some.map(({ spec }) => String(spec[trait.key]));
      // An object that cannot be read may want what another one is about to remove.
      const leaving = isUnseen(cluster, trait.kind) ? [] : children.filter(leaves);
      const wanted = keys(children.filter(wantsEntryOf(object)));
      return [member, { wanted, leaving: keys(leaving) }];
    }),
  );
}

/**
 * Call it before an update of shared lists. When the definition of a kind is deleted, its objects go and their entries
 * stay. So this throws Retry until those objects are gone, since the update would remove the entries with them.
 */
export async function refuseWhileEntriesLoseKind(context: ReconcileContext): Promise<void> {
  const { kind, cluster } = context;
  const claims = claimsOf(context);
  for (const { member, trait } of sharedLists(kind.spec)) {
    const child = cluster.kinds.find((one) => one.kind === trait.kind);
    if (!child || claims[member]?.leaving.length === 0 || !(await cluster.isKindDeleting(child))) continue;
    throw new Retry(
      "Updating",
      `Waiting until the ${child.kind} objects are gone, no action is needed: their definition is being deleted, and their entries stay`,
    );
  }
}

/** Objects of a kind that stand for entries in lists of this object. */
function childrenOf({ kind, object, cluster }: Sharing, childKind: string): ManagedObject[] {
  const id = object.status?.id;
  const inside = id === undefined ? [] : cluster.othersWithRemoteID({ kind: childKind }, id, object);
  const named = cluster
    .referrersOf(kind, object)
    .filter((referrer) => referrer.kind.kind === childKind && cluster.shareAccount(referrer.object, object));
  return distinct([...inside, ...named.map((referrer) => referrer.object)]);
}

/** The entries that this object has added to its list and no longer lists. `key`: the field that names an entry. */
function droppedEntries(object: ManagedObject, fields: readonly string[], key: string): string[] {
  const listed = fields.flatMap((field) => entriesOf(object, field, key));
  const added = fields.flatMap((field) => appliedEntries(field, object.status?.appliedFields ?? []));
  return added.filter((one) => !listed.includes(one));
}

const wantsEntryOf =
  (parent: ManagedObject) =>
  (child: ManagedObject): boolean =>
    wants(child) && mayHave(child, [parent]);

const keyOf = (id: string): string => id.slice(id.indexOf("/") + 1);
const parentIDOf = (id: string): string => id.slice(0, id.indexOf("/"));

/** Objects that stand for the parent of this entry. */
function parentsOf({ cluster, object }: ReconcileContext, { parent }: EntryLocation, id: string): ManagedObject[] {
  return cluster.othersWithRemoteID(parent, parentIDOf(id), object);
}

/** Other objects that stand for the same entry, including objects without an id. */
function siblingsOf(context: ReconcileContext, location: EntryLocation, id: string): ManagedObject[] {
  const { cluster, kind, object } = context;
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
export const mayHave = (object: ManagedObject, parents: readonly ManagedObject[]): boolean =>
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

/**
 * Fields that other objects set on the same remote. Their modules stay until the next object sets them. Otherwise the
 * route would be open to everybody in between, for example without its sign-on.
 */
export function modulesWantedByOthers({ kind, object, cluster }: ReconcileContext, id: string): string[] {
  const others = cluster.othersWithRemoteID(kind, id, object);
  return others.filter(wants).flatMap(({ spec }) => Object.keys(spec));
}
