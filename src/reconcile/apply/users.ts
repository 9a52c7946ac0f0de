import type { Modules } from "../../account/remotes/modules.ts";
import { isForbidden } from "../../gateway/errors.ts";
import type { Remote } from "../../gateway/resource.ts";
import { remoteIDsOf } from "../../objects/identity.ts";
import { openIntentOf } from "../../objects/intent.ts";
import { isDeleting, isObserver, isPaused, type ManagedObject, type Status } from "../../objects/object.ts";
import { leavesItsRemote } from "../../objects/origin.ts";
import { answerFieldsOf } from "../../schema/common.ts";
import type { Kind } from "../../schema/define.ts";
import { toStatus } from "../../schema/wire/answer.ts";
import { sentAs } from "../../schema/wire/names.ts";
import { needsOf } from "../../schema/wire/needs.ts";
import { fieldsReferringTo, referencedValues, valuesReferencing } from "../../schema/wire/uses.ts";
import { type ReconcileContext, requestOptions } from "../context.ts";
import { leavesReferringModule } from "./left-modules.ts";
import { completed } from "./left-out.ts";

/** A remote that may be used, and the object that stands for it, if any. */
export interface Target {
  kind: Kind;
  id: string;
  object: ManagedObject | undefined;
}

/** What has a remote in it, or is about to. */
export interface User {
  kind: Kind;
  /** Unset while its create may be under way. */
  id: string | undefined;
  /** Undefined: nothing in the cluster stands for it. */
  object: ManagedObject | undefined;
  /** The spec of the object refers to the remote, so a watch tells when it no longer does. */
  bySpec?: true;
}

export interface Users {
  users: readonly User[];
  /** Kinds that may use the remote and cannot be seen, or not completely. */
  unseen: readonly Unseen[];
}

export interface Unseen {
  kind: Kind;
  why: "forbidden" | "unreadable";
}

/**
 * Some of what in the account has the target in it, whether an object stands for that or not. Nothing is found only when
 * `findAllUsers` finds nothing. But no request is sent while an object is known to use the target, nor while a list that
 * is no older than `maxAgeMs` shows a user.
 */
export async function findUsers(context: ReconcileContext, target: Target, maxAgeMs: number): Promise<Users> {
  const referring = referringUsers(context, target);
  if (referring.length > 0) return { users: referring, unseen: [] };
  const kinds = context.cluster.kindsReferringTo(target.kind);
  const recent = kinds.filter((kind) => isListRecent(context, kind, maxAgeMs));
  const cached = recent.flatMap((kind) => cachedUsers(context, target, kind));
  return cached.length > 0 ? { users: cached, unseen: [] } : findAllUsers(context, target);
}

/** All that has the target in it. Each kind that can refer to it is listed, once in a burst of deletions. */
export async function findAllUsers(context: ReconcileContext, target: Target): Promise<Users> {
  const kinds = context.cluster.kindsReferringTo(target.kind);
  const found = await Promise.all(kinds.map((kind) => listUsers(context, target, kind)));
  return {
    users: [...referringUsers(context, target), ...found.flatMap(({ users }) => users)],
    unseen: found.flatMap(({ unseen }) => unseen),
  };
}

/** Objects whose specs refer to the target and stay so, may just be sent, or are not carried out yet. */
function referringUsers(context: ReconcileContext, target: Target): User[] {
  const { cluster, account } = context;
  const { kind, object: own } = target;
  if (!own) return [];
  return cluster.referrersOf(kind, own).flatMap(({ kind: userKind, object }): User[] => {
    const user: User = { kind: userKind, id: object.status?.id, object };
    // What refers by name moves with an object that stays.
    const stays = !isDeleting(object) && (isDeleting(own) || namesID(userKind, object, target.id));
    if (stays || mayBeCreating(context, object)) return [{ ...user, bySpec: true }];
    const remote = user.id === undefined ? undefined : account.remotes(userKind).cached(user.id);
    return remote && userTest(context, target, userKind)(remote) ? [user] : [];
  });
}

const namesID = (kind: Kind, { spec }: ManagedObject, id: string): boolean =>
  needsOf(kind.spec, spec).some((need) => need.type === "reference" && need.to.id === id);

/** Whether an object may have sent a create whose outcome is not known, and whose body may refer to all that its spec does. */
function mayBeCreating({ account }: ReconcileContext, object: ManagedObject): boolean {
  const intent = isDeleting(object) || object.status?.id === undefined ? openIntentOf(object) : undefined;
  return intent !== undefined && !account.isCreateRefused(object, intent);
}

function isListRecent({ account, clock }: ReconcileContext, kind: Kind, maxAgeMs: number): boolean {
  if (kind.location.type !== "collection") return false;
  const { listedAt } = account.collection(kind.resource);
  return listedAt !== undefined && clock.now() - listedAt <= maxAgeMs;
}

/** Users of one kind, as far as lists and answers have told. */
const cachedUsers = (context: ReconcileContext, target: Target, kind: Kind): User[] =>
  usersAmong(context, target, kind, context.account.remotes(kind).allCached());

const usersAmong = (context: ReconcileContext, target: Target, kind: Kind, remotes: readonly Remote[]): User[] =>
  remotes.filter(userTest(context, target, kind)).map(({ id }) => ({ kind, id, object: objectOf(context, kind, id) }));

async function listUsers(context: ReconcileContext, target: Target, kind: Kind): Promise<Users> {
  const { cluster, account, object } = context;
  const { location } = kind;
  if (location.type === "entry" && location.parent.kind === target.kind.kind) {
    // Entries are in the target itself and go with it, so only objects that want one of them count.
    const owners = cluster.othersWithRemoteID(kind, target.id, object);
    return { users: owners.map((owner) => ({ kind, id: owner.status?.id, object: owner })), unseen: [] };
  }
  const forbidden: Users = { users: [], unseen: [{ kind, why: "forbidden" }] };
  if (account.deletionBurst.isForbidden(kind.kind)) return forbidden;
  try {
    return await (location.type === "modules" ? readUsers : listCollection)(context, target, kind);
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
  await collection.listedSurely(account.deletionBurst.beganAt, requestOptions(context));
  // A list may leave out a remote, for example when others are deleted between two of its pages. Only a 404 means gone.
  const absent = before.flatMap(({ id = "" }) => (collection.isMissing(id) ? [id] : []));
  await Promise.all(absent.map((id) => collection.read(id, requestOptions(context))));
  const { remotes, areAllSeen } = await completed(context, kind, target.kind);
  return {
    users: usersAmong(context, target, kind, remotes),
    unseen: collection.hadUnreadable || !areAllSeen ? [{ kind, why: "unreadable" }] : [],
  };
}

/** Without a list, each remote that an object has or names is read, and each that was left with a module of an object. */
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

/** Whether the remote of a user is about to be deleted, and nothing that a person has asked for keeps it. */
export const isBeingRemoved = ({ kind, object }: User): boolean =>
  object !== undefined && isDeleting(object) && !isPaused(object) && !leavesReferences(kind, object);

/** Whether what the object stands for goes on using other remotes when the object is gone. */
export const leavesReferences = (kind: Kind, object: ManagedObject): boolean =>
  leavesItsRemote(object) || leavesReferringModule(kind, object);

/** The object that stands for a remote; among several, one that stays. */
function objectOf({ cluster, kind: own, object }: ReconcileContext, kind: Kind, id: string): ManagedObject | undefined {
  if (kind.kind === own.kind && remoteIDsOf(kind, object).includes(id)) return object;
  const objects = cluster.othersWithRemoteID(kind, id, object);
  const managing = objects.filter((one) => !isObserver(one));
  return managing.find((one) => !isDeleting(one)) ?? managing[0] ?? objects[0];
}

/** Tells whether a remote of this kind has the target in it: its id, or what else a reference to it sends. */
function userTest(context: ReconcileContext, target: Target, kind: Kind): (remote: Remote) => boolean {
  const values = statusesOf(context, target).flatMap((status) =>
    valuesReferencing(kind.spec, { kind: target.kind.kind, status }),
  );
  return (remote) => {
    const used = referencedValues(kind.spec, remote);
    return remote.id !== target.id && values.some((value) => used.has(value));
  };
}

/** The status fields of a remote that references may send, as the status has them and as the account had them last. */
function statusesOf({ account }: ReconcileContext, { kind, id, object }: Target): Status[] {
  const remote = account.remotes(kind).cached(id);
  const answered = remote ? [toStatus(answerFieldsOf(kind), remote) as Status] : [];
  const written = object?.status?.id === id ? [object.status] : [];
  return [{ id }, ...answered, ...written];
}
