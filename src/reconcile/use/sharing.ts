import type { Account } from "../../account/account.ts";
import type { Entries } from "../../account/remotes/entries.ts";
import { entriesLoseKind } from "../../objects/errors/change.ts";
import { idFromSpec, listedID } from "../../objects/identity.ts";
import { openCreateOf } from "../../objects/intent.ts";
import { hasFinalizer, isAsking, isDeleting, isObserver, isPaused, type ManagedObject } from "../../objects/object.ts";
import { leavesItsRemote } from "../../objects/origin.ts";
import type { EntryLocation, Kind } from "../../schema/define.ts";
import { appliedEntries } from "../../schema/wire/applied.ts";
import { type OthersEntries, type OthersEntriesByMember, sharedLists } from "../../schema/wire/shared.ts";
import { noteOrigin, type ReconcileContext } from "../context.ts";
import type { EntryContext } from "../features.ts";
import { isUnseen } from "../unseen.ts";

// Several objects and people may want one entry of a list: the object of the parent, whose spec lists it; objects that
// stand for single entries; and people who added it in the account. The entry is deleted when the last object that
// wants it is deleted. It stays if it was in the account before any of these objects.

/** A remote whose list has entries. */
interface Parent {
  id: string;
  /** Those that stand for it, or only observe it. */
  objects: readonly ManagedObject[];
}

/** Whether the remote stays in the account after this object is deleted, because others want it. */
export function isKeptForOthers(context: EntryContext, id: string): boolean {
  const { kind, object, state } = context;
  const { location } = kind;
  // The status may still have the entry that was in the place of the one that this reconcile has found.
  const recorded = id === object.status?.id ? object.status.origin : undefined;
  if (((id === state.remote?.id && state.origin) || recorded) === "Adopted") return true;
  const key = keyOf(id);
  const parent = parentOf(context, id);
  const listed = parent.objects.some((one) => !isDeleting(one) && !isObserver(one) && lists(one, location, key));
  return listed || siblingsOf(context, id).some((sibling) => isAsking(sibling) && mayHave(context, sibling, parent));
}

/**
 * Call it when an entry stays because others want it, before this object goes. An object that has not taken the entry
 * yet could not tell later that no person has made it.
 */
export function leaveEntry(context: EntryContext, id: string): void {
  const { kind, object, state } = context;
  if ((state.origin ?? object.status?.origin) === "Adopted") return;
  const parent = parentOf(context, id);
  const wanting = siblingsOf(context, id).filter((one) => isAsking(one) && mayHave(context, one, parent));
  leaveTo(context, kind, id, wanting);
}

/** Like `leaveEntry`, for the entries that this object has added to its shared lists and no longer lists. */
export function leaveDroppedEntries(context: ReconcileContext): void {
  const { object } = context;
  for (const { id, kind, key, value } of droppedFrom(context)) {
    const wanting = childrenOf(context, kind.kind).filter(wantsEntryOf(context, object));
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
export const forgetLeftEntry = ({ account, kind }: EntryContext, id: string): void =>
  entriesOfKind(account, kind).forgetLeft(id);

const entriesOfKind = (account: Account, kind: Kind): Entries => account.remotes(kind) as Entries;

/** Whether an existing entry was in the account before any object of this operator could have created it. */
function isPreexisting(context: EntryContext, id: string): boolean {
  const { account, kind } = context;
  const { location } = kind;
  if (entriesOfKind(account, kind).isLeft(id)) return false;
  const key = keyOf(id);
  const ours = (one: ManagedObject) =>
    (!isObserver(one) && lists(one, location, key)) ||
    appliedEntries(location.parent.list, one.status?.appliedFields ?? []).includes(key);
  const parent = parentOf(context, id);
  return !parent.objects.some(ours) && !siblingsOf(context, id).some((one) => mayHaveMade(context, one, parent));
}

/** Records how the account came to have this entry. `create`: the create whose outcome it may be. */
export const noteEntryOrigin = (context: EntryContext, id: string, create?: string): void =>
  noteOrigin(context, isPreexisting(context, id) ? "Adopted" : "Created", create);

type Sharing = Pick<ReconcileContext, "kind" | "object" | "cluster">;

/** For each shared list of this object: the entries that other objects want in it, and those that they want removed. */
export function othersEntriesOf(context: Sharing): OthersEntriesByMember {
  const { kind, object, cluster } = context;
  return Object.fromEntries(
    sharedLists(kind.spec).map(({ member, trait }): [string, OthersEntries] => {
      const children = childrenOf(context, trait.kind);
      const keys = (some: ManagedObject[]) => some.map(({ spec }) => String(spec[trait.key]));
      // An object that cannot be read may want what another one is about to remove.
      const leaving = isUnseen(cluster, trait.kind) ? [] : children.filter(leavesEntryOf(context, object));
      const wanted = keys(children.filter(wantsEntryOf(context, object)));
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
  const others = othersEntriesOf(context);
  for (const { member, trait } of sharedLists(kind.spec)) {
    const child = cluster.kinds.find((one) => one.kind === trait.kind);
    if (!child || others[member]?.leaving.length === 0 || !(await cluster.reading.isKindDeleting(child))) continue;
    throw entriesLoseKind({ kind: child.kind });
  }
}

/** Objects of a kind that stand for entries in lists of this object. */
function childrenOf({ kind, object, cluster }: Sharing, childKind: string): ManagedObject[] {
  const id = object.status?.id;
  const inside = id === undefined ? [] : cluster.othersWithRemoteID({ kind: childKind }, id, object);
  const named = cluster
    .referrersOf(kind, object)
    .filter((referrer) => referrer.kind.kind === childKind && cluster.accounts.isSameAccount(referrer.object, object));
  return distinct([...inside, ...named.map((referrer) => referrer.object)]);
}

/** The entries that this object has added to its list and no longer lists. `key`: the field that names an entry. */
function droppedEntries(object: ManagedObject, fields: readonly string[], key: string): string[] {
  const listed = fields.flatMap((field) => entriesOf(object, field, key));
  const added = fields.flatMap((field) => appliedEntries(field, object.status?.appliedFields ?? []));
  return added.filter((one) => !listed.includes(one));
}

const wantsEntryOf =
  (context: Sharing, parent: ManagedObject) =>
  (child: ManagedObject): boolean =>
    isAsking(child) && mayHave(context, child, asParent(parent));

/**
 * Whether the object is about to remove its entry. While it is paused, it removes nothing. Once the operator has done
 * with it, whoever has added the entry again is somebody else.
 */
const leavesEntryOf =
  (context: Sharing, parent: ManagedObject) =>
  (child: ManagedObject): boolean =>
    isDeleting(child) &&
    hasFinalizer(child) &&
    !isPaused(child) &&
    !leavesItsRemote(child) &&
    mayHaveMade(context, child, asParent(parent));

const asParent = (object: ManagedObject): Parent => ({ id: object.status?.id ?? "", objects: [object] });

const keyOf = (id: string): string => id.slice(id.indexOf("/") + 1);

function parentOf({ cluster, object, kind }: EntryContext, entry: string): Parent {
  const id = listedID(kind, entry);
  return { id, objects: cluster.othersWithRemoteID(kind.location.parent, id, object) };
}

/** Other objects that stand for the same entry, including objects without an id. */
function siblingsOf(context: EntryContext, id: string): ManagedObject[] {
  const { cluster, kind, object } = context;
  const named = parentOf(context, id)
    .objects.flatMap((parent) => cluster.referrersOf(kind.location.parent, parent))
    .filter((referrer) => referrer.kind.kind === kind.kind && idFromSpec(kind, referrer.object, cluster) === id)
    .filter((referrer) => cluster.accounts.isSameAccount(referrer.object, object));
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

/** Whether the object of this reconcile may have this entry. */
export const mayHaveEntry = (context: EntryContext, id: string): boolean =>
  mayHave(context, context.object, parentOf(context, id));

/**
 * Whether an object may have the entry that it wants of this parent: an object of its namespace manages the parent, or it
 * has the entry, or the right to adopt. Without that, no entry is added or kept for it. An entry that it has elsewhere
 * gives no right: the name in its spec may have come to mean a parent that others have.
 */
export const mayHave = ({ cluster }: Pick<Sharing, "cluster">, object: ManagedObject, parent: Parent): boolean =>
  (hasEntryOf(object, parent) && !isObserver(object)) ||
  cluster.accounts.mayAdopt(object) ||
  parent.objects.some((one) => one.metadata.namespace === object.metadata.namespace && !isObserver(one));

const hasEntryOf = ({ status }: ManagedObject, { id }: Parent): boolean => status?.id?.startsWith(`${id}/`) === true;

/** Whether the object may have created the entry. Without an entry of this parent and an open create, it has not. */
const mayHaveMade = (context: Sharing, object: ManagedObject, parent: Parent): boolean =>
  !isObserver(object) &&
  (hasEntryOf(object, parent)
    ? object.status?.origin !== "Adopted"
    : openCreateOf(object) !== undefined && mayHave(context, object, parent));
