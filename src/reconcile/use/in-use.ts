import { stillUsed, usersForbidden, usersGoing, usersUnlisted } from "../../objects/errors/deletion.ts";
import { conditionOf, isUninstalling, type ManagedObject } from "../../objects/object.ts";
import type { ReconcileError } from "../../objects/reconcile-error.ts";
import { isExposedWithout } from "../../schema/wire/uses.ts";
import { epochMs, type ReconcileContext, remotesOf, requestOptions } from "../context.ts";
import { isCycle } from "./cycle.ts";
import {
  findUsers,
  isBeingRemoved,
  leavesReferences,
  referringUsers,
  type Target,
  type Unseen,
  type User,
} from "./users.ts";

/** Seconds between two looks when a watch will report that the last spec no longer refers to the remote. */
const WATCHED_SECONDS = 300;

/** The users of a remote, where they are why it is not deleted. Undefined for any other error. */
export const usersIn = (error: unknown): readonly User[] | undefined =>
  (stillUsed.valuesOf(error) ?? usersGoing.valuesOf(error))?.users as readonly User[] | undefined;

/** Why a remote of the object has to stay: a remote in the account refers to it, or may refer to it. */
export async function refusalOfUsers(context: ReconcileContext, id: string): Promise<ReconcileError | undefined> {
  const { kind, object, cluster } = context;
  if (cluster.kindsReferringTo(kind).length === 0) return undefined;
  const target = { kind, id, object };
  const { users, unseen } = await findUsers(context, target, secondsBetween(context, 4, 10, 300) * 1000);
  if (users.length > 0 && !(await isGone(context, id, users))) return refusalOf(context, target, users);
  const hidden = unseen.filter((one) => isExposedWithout(one.kind.spec, kind.kind));
  return hidden.length > 0 ? usersUnseen(context, hidden) : undefined;
}

/** Whether the spec of an object refers to the remote. Asks nobody. */
export const isReferredTo = (context: ReconcileContext, id: string): boolean =>
  referringUsers(context, { kind: context.kind, id, object: context.object }).some(({ bySpec }) => bySpec);

/**
 * A remote that is gone needs no protection. An object whose spec refers to it is different: it waits for this object.
 */
const isGone = async (context: ReconcileContext, id: string, users: readonly User[]): Promise<boolean> =>
  !users.some(({ bySpec }) => bySpec) &&
  remotesOf(context).cached(id) === undefined &&
  (await remotesOf(context).read(id, requestOptions(context))) === undefined;

async function refusalOf(context: ReconcileContext, target: Target, users: readonly User[]): Promise<ReconcileError> {
  const { object } = context;
  const { kind } = context.kind;
  const staying = users.filter((user) => !isBeingRemoved(user));
  const often = { afterSeconds: secondsBetween(context, 10, 1, 60) };
  if (staying.length === 0) {
    const names = namesOf(users, object);
    return usersGoing({ kind, names, users, isCycle: await isCycle(context, target) }, often);
  }
  const names = [...namesOf(staying, object), ...namesOf(users.filter(isBeingRemoved), object)];
  const isOurs = staying.every((user) => user.object?.metadata.namespace === object.metadata.namespace);
  const isWatched = staying.every(({ bySpec }) => bySpec);
  return stillUsed({ kind, names, users, isOurs }, isWatched ? { afterSeconds: WATCHED_SECONDS } : often);
}

/**
 * Seconds until the next look: a share of the time that the object has waited already, within bounds. So the looks
 * become less frequent.
 */
function secondsBetween(context: ReconcileContext, share: number, least: number, most: number): number {
  const { deletionTimestamp } = context.object.metadata;
  const waited =
    deletionTimestamp === undefined ? most * share : (epochMs(context) - Date.parse(deletionTimestamp)) / 1000;
  return Math.min(Math.max(waited / share, least), most);
}

/** The error when users may exist that cannot be seen. They could be open to everybody once the remote is deleted. */
function usersUnseen({ kind }: ReconcileContext, unseen: readonly Unseen[]): ReconcileError {
  const titles = [...new Set(unseen.map((one) => `${one.kind.resource.title}s`))].join(" and ");
  const isForbidden = unseen.some(({ why }) => why === "forbidden");
  return (isForbidden ? usersForbidden : usersUnlisted)({ titles, kind: kind.kind });
}

/**
 * The users that stay although a namespace is being deleted, or the operator is being uninstalled. Objects that go away
 * with it need not be waited for: `uninstall` deletes all objects of all namespaces. Elsewhere, an object that is being
 * deleted stays while something uses it.
 */
export async function usersThatStay({ cluster, object }: ReconcileContext, users: readonly User[]): Promise<User[]> {
  const home = object.metadata.namespace;
  const namespaces = [...new Set(users.flatMap((user) => user.object?.metadata.namespace ?? []))];
  const others = namespaces.filter((namespace) => namespace !== home);
  const deleting = await Promise.all(others.map((namespace) => cluster.reading.isNamespaceDeleting(namespace)));
  const going = [home, ...others.filter((_, index) => deleting[index])];
  return users.filter((user) => {
    if (!user.object || leavesReferences(user.kind, user.object)) return true;
    if (isUninstalling(object) || going.includes(user.object.metadata.namespace)) return false;
    return !isBeingRemoved(user) || conditionOf(user.object.status, "Ready")?.reason === "InUse";
  });
}

/** `Kind "name"`, with the namespace if it is another one. A remote without an object is named by its title and id. */
export function namesOf(users: readonly User[], { metadata: { namespace } }: ManagedObject): string[] {
  const names = users.map(({ kind, id, object }) => {
    if (!object) return `${kind.resource.title} ${id}`;
    const { metadata } = object;
    return metadata.namespace === namespace
      ? `${kind.kind} "${metadata.name}"`
      : `${kind.kind} ${metadata.namespace}/${metadata.name}`;
  });
  return [...new Set(names)].sort();
}
