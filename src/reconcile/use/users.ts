import type { Modules } from "../../account/remotes/modules.ts";
import { isForbidden } from "../../gateway/errors.ts";
import type { Remote } from "../../gateway/resource.ts";
import { remoteIDsOf } from "../../objects/identity.ts";
import { openCreateOf } from "../../objects/intent.ts";
import { isDeleting, isObserver, isPaused, type ManagedObject, releasedTo, type Status } from "../../objects/object.ts";
import { leavesItsRemote } from "../../objects/origin.ts";
import { answerFieldsOf } from "../../schema/common.ts";
import { type Kind, listOf } from "../../schema/define.ts";
import { toStatus } from "../../schema/wire/answer.ts";
import { sentAs } from "../../schema/wire/names.ts";
import { needsOf } from "../../schema/wire/needs.ts";
import { fieldsReferringTo, referencedValues, valuesReferencing } from "../../schema/wire/uses.ts";
import type { Referrer } from "../cluster.ts";
import { type ReconcileContext, requestOptions } from "../context.ts";
import { isEntryKind, setsModules } from "../features.ts";
import { leavesReferringModule } from "./left-modules.ts";
import { completed } from "./left-out.ts";
import { mayHave } from "./sharing.ts";

/** A remote whose users are searched for, and its object, if any. */
export interface Target {
  kind: Kind;
  id: string;
  object: ManagedObject | undefined;
}

/** A remote that refers to the target, or will as soon as its object is carried out. */
export interface User {
  kind: Kind;
  /** Unset while the create may be under way. */
  id: string | undefined;
  /** Undefined: the remote has no object in the cluster. */
  object: ManagedObject | undefined;
  /** Set when the spec of the object refers to the target, so that a watch reports when it no longer does. */
  bySpec?: true;
}

export interface Users {
  users: readonly User[];
  /** Kinds that may use the remote and cannot be seen completely. */
  unseen: readonly Unseen[];
}

export interface Unseen {
  kind: Kind;
  why: "forbidden" | "unreadable";
}

/**
 * Some of the target's users, with or without an object. None are found only when `findAllUsers` finds none. Sends no
 * request if an object is known to use the target, or if a list no older than `maxAgeMs` shows a user.
 */
export async function findUsers(context: ReconcileContext, target: Target, maxAgeMs: number): Promise<Users> {
  const referring = referringUsers(context, target);
  if (referring.length > 0) return { users: referring, unseen: [] };
  const kinds = context.cluster.kindsReferringTo(target.kind);
  const recent = kinds.filter((kind) => isListRecent(context, kind, maxAgeMs));
  const cached = recent.flatMap((kind) => cachedUsers(context, target, kind));
  return cached.length > 0 ? { users: cached, unseen: [] } : findAllUsers(context, target);
}

/** All users of the target. Lists each kind that can refer to it, once in a burst of deletions. */
export async function findAllUsers(context: ReconcileContext, target: Target): Promise<Users> {
  const kinds = context.cluster.kindsReferringTo(target.kind);
  const found = await Promise.all(kinds.map((kind) => listUsers(context, target, kind)));
  return {
    users: [...referringUsers(context, target), ...found.flatMap(({ users }) => users)],
    unseen: found.flatMap(({ unseen }) => unseen),
  };
}

/**
 * Objects whose specs refer to the target, and that keep this reference, may have just been sent, or are not carried
 * out yet.
 */
export function referringUsers(context: ReconcileContext, target: Target): User[] {
  const { account } = context;
  const { object: own } = target;
  if (!own) return [];
  return referrersOf(context, target, own).flatMap(({ kind: userKind, object }): User[] => {
    const user: User = { kind: userKind, id: object.status?.id, object };
    // A reference by name moves on when an object of that name stays, or when its remote does.
    const ends = isDeleting(own) && releasedTo(own) === undefined;
    const stays = !isDeleting(object) && (ends || namesID(userKind, object, target.id));
    if (stays || mayBeCreating(context, object)) return [{ ...user, bySpec: true }];
    const remote = user.id === undefined ? undefined : account.remotes(userKind).cached(user.id);
    return remote && userTest(context, target, userKind)(remote) ? [user] : [];
  });
}

/** Objects that name the object of the target, or another object of its remote, such as one that only observes it. */
function referrersOf(context: ReconcileContext, target: Target, own: ManagedObject): Referrer[] {
  const { cluster } = context;
  const { kind, id } = target;
  const all = [own, ...cluster.othersWithRemoteID(kind, id, own)].flatMap((one) => cluster.referrersOf(kind, one));
  const distinct = new Map(all.map((referrer) => [referrer.object.metadata.uid, referrer]));
  return [...distinct.values()].filter((referrer) => mayUse(context, referrer.kind, referrer.object, target));
}

/**
 * False for an object of another namespace that names an entry of the target and has no right to it, or only observes
 * it. Anybody could keep the target with such an object.
 */
const mayUse = (context: ReconcileContext, kind: Kind, object: ManagedObject, target: Target): boolean =>
  !isPartOf(target, kind) ||
  object.metadata.namespace === target.object?.metadata.namespace ||
  mayHave(context, object, { id: target.id, objects: [] });

/** Whether the remotes of the kind are entries in a list of the target, which are deleted with it. */
const isPartOf = (target: Target, kind: Kind): boolean =>
  isEntryKind(kind) && kind.location.parent.kind === target.kind.kind;

const namesID = (kind: Kind, { spec }: ManagedObject, id: string): boolean =>
  needsOf(kind.spec, spec).some((need) => need.type === "reference" && need.to.id === id);

/**
 * Whether an object may have sent a create whose outcome is unknown. Its body may have everything to which the spec
 * refers.
 */
function mayBeCreating({ memory }: ReconcileContext, object: ManagedObject): boolean {
  const create = isDeleting(object) || object.status?.id === undefined ? openCreateOf(object) : undefined;
  return create !== undefined && !memory.known(object.metadata.uid)?.isCreateFutile(create);
}

function isListRecent({ account, clock }: ReconcileContext, kind: Kind, maxAgeMs: number): boolean {
  const listedAt = account.collectionOf(kind)?.listedAt;
  return listedAt !== undefined && clock.now() - listedAt <= maxAgeMs;
}

/** The users of one kind that lists and answers have shown. */
const cachedUsers = (context: ReconcileContext, target: Target, kind: Kind): User[] =>
  usersAmong(context, target, kind, context.account.remotes(kind).allCached());

const usersAmong = (context: ReconcileContext, target: Target, kind: Kind, remotes: readonly Remote[]): User[] =>
  remotes.filter(userTest(context, target, kind)).map(({ id }) => ({ kind, id, object: objectOf(context, kind, id) }));

async function listUsers(context: ReconcileContext, target: Target, kind: Kind): Promise<Users> {
  const { cluster, account, object } = context;
  if (isPartOf(target, kind)) {
    // Only objects that want one of the entries count.
    const owners = cluster
      .othersWithRemoteID(kind, target.id, object)
      .filter((owner) => mayUse(context, kind, owner, target));
    return { users: owners.map((owner) => ({ kind, id: owner.status?.id, object: owner })), unseen: [] };
  }
  const forbidden: Users = { users: [], unseen: [{ kind, why: "forbidden" }] };
  if (account.deletionBurst.isForbidden(kind.kind)) return forbidden;
  try {
    return await (listOf(kind) ? listCollection : readUsers)(context, target, kind);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    account.deletionBurst.recordForbidden(kind.kind);
    return forbidden;
  }
}

async function listCollection(context: ReconcileContext, target: Target, kind: Kind): Promise<Users> {
  const { account } = context;
  const collection = account.collection(kind.resource);
  if (collection.listedAt === undefined)
    await collection.listed(account.deletionBurst.beganAt, requestOptions(context));
  const before = cachedUsers(context, target, kind);
  await collection.list.listedSurely(account.deletionBurst.beganAt, requestOptions(context));
  // A list may skip a remote, for example when others are deleted between two of its pages. Only a 404 proves that it
  // is gone.
  const absent = before.flatMap(({ id = "" }) => (collection.isMissing(id) ? [id] : []));
  await Promise.all(absent.map((id) => collection.read(id, requestOptions(context))));
  const { remotes, areAllSeen } = await completed(context, kind, target.kind);
  return {
    users: usersAmong(context, target, kind, remotes),
    unseen: collection.list.hadUnreadable || !areAllSeen ? [{ kind, why: "unreadable" }] : [],
  };
}

/**
 * For kinds without a list: reads each remote that an object has or names, and each on which an object has left a
 * module.
 */
async function readUsers(context: ReconcileContext, target: Target, kind: Kind): Promise<Users> {
  const { account, cluster, object } = context;
  const modules = account.remotes(kind) as Modules;
  const members = fieldsReferringTo(kind.spec, target.kind.kind).map(([field, member]) => sentAs(field, member));
  const since = account.deletionBurst.beganAt;
  const read = (id: string) => modules.getSince(id, since, requestOptions(context), members);
  const left = target.object?.status?.leftOn?.filter((id) => id.startsWith(kind.resource.idPrefix)) ?? [];
  const ids = new Set([...cluster.remoteIDsBeside(kind, object), ...left]);
  const remotes = await Promise.all([...ids].map(read));
  return { users: usersAmong(context, target, kind, remotes), unseen: [] };
}

/** Whether the remote of a user is about to be deleted, and nobody has asked to keep or pause it. */
export const isBeingRemoved = ({ kind, object }: User): boolean =>
  object !== undefined && isDeleting(object) && !isPaused(object) && !leavesReferences(kind, object);

/**
 * Whether the remote of the object, or a module of it, still refers to other remotes after the object is deleted. An
 * entry refers to nothing but its parent, and is deleted with that.
 */
export const leavesReferences = (kind: Kind, object: ManagedObject): boolean =>
  !isEntryKind(kind) && (leavesItsRemote(object) || (setsModules(kind) && leavesReferringModule(kind, object)));

/** The object of a remote. If there are several, one that is not being deleted. */
function objectOf({ cluster, kind: own, object }: ReconcileContext, kind: Kind, id: string): ManagedObject | undefined {
  if (kind.kind === own.kind && remoteIDsOf(kind, object).includes(id)) return object;
  const objects = cluster.othersWithRemoteID(kind, id, object);
  const managing = objects.filter((one) => !isObserver(one));
  return managing.find((one) => !isDeleting(one)) ?? managing[0] ?? objects[0];
}

/**
 * Returns a test whether a remote of this kind refers to the target, by its id or by another value that references
 * send.
 */
function userTest(context: ReconcileContext, target: Target, kind: Kind): (remote: Remote) => boolean {
  const values = statusesOf(context, target).flatMap((status) =>
    valuesReferencing(kind.spec, { kind: target.kind.kind, status }),
  );
  return (remote) => {
    const used = referencedValues(kind.spec, remote);
    return remote.id !== target.id && values.some((value) => used.has(value));
  };
}

/** The status fields of a remote that references may send: as the status has them, and as the account had them last. */
function statusesOf({ account }: ReconcileContext, { kind, id, object }: Target): Status[] {
  const remote = account.remotes(kind).cached(id);
  const answered = remote ? [toStatus(answerFieldsOf(kind), remote) as Status] : [];
  const written = object?.status?.id === id ? [object.status] : [];
  return [{ id }, ...answered, ...written];
}
