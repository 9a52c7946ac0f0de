import {
  leftoverGone,
  leftoverKept,
  leftoverMarked,
  leftoverUsersUnseen,
  turnAwaited,
} from "../objects/errors/deletion.ts";
import { canBeLeft, keepersAmong, type Surroundings } from "../objects/leftover.ts";
import { nameOf } from "../objects/object.ts";
import { metadataOf, ownerMarkOf, withoutOwnerMark } from "../objects/ownership.ts";
import { deleteRemote } from "./apply/delete-remote.ts";
import { planOfMetadata } from "./apply/metadata.ts";
import { type ReconcileContext, readRemote, remotesOf, requestOptions, updatableRemotesOf } from "./context.ts";
import { ensureDeletable } from "./decide/may-delete.ts";
import { usersIn } from "./use/in-use.ts";

// What a person changes in the account with a command. The command reads the objects, and what the operator asks before
// it changes a remote is asked here as well: there is no other way to the account.

/** A remote that no object needs, as it was when a person chose it. */
export interface Leftover extends Omit<Surroundings, "exists"> {
  id: string;
  /** Its owner mark. */
  mark: string | undefined;
}

/**
 * Deletes a remote that no object needs, after the checks that come before the deletion with an object. `context`: of an
 * object that would stand for it. Throws a ReconcileError if the remote has to stay.
 */
export async function deleteLeftover(context: ReconcileContext, leftover: Leftover): Promise<void> {
  await ensureLeft(context, leftover);
  const refusal = await deleteRemote(context, leftover.id, "leftover");
  if (refusal) throw refusal.error;
}

/** Asks what `deleteLeftover` asks, and deletes nothing. */
export async function checkLeftover(context: ReconcileContext, leftover: Leftover): Promise<void> {
  await ensureLeft(context, leftover);
  await ensureDeletable(context, { id: leftover.id, way: "leftover" });
}

async function ensureLeft(context: ReconcileContext, leftover: Leftover): Promise<void> {
  const { kind, account } = context;
  const { id, mark } = leftover;
  if (!canBeLeft(kind)) throw leftoverUsersUnseen({ title: kind.resource.title });
  const remotes = remotesOf(context);
  // A person has time to wait, and the objects were read just now.
  account.deletionBurst.end();
  await remotes.listed(account.deletionBurst.beganAt, requestOptions(context));
  const remote = await readRemote(context, id);
  if (!remote) throw leftoverGone({});
  if (ownerMarkOf(remote) !== mark) throw leftoverMarked({});
  const exists = (other: string) => remotes.cached(other) !== undefined;
  const keeper = keepersAmong(kind, { ...leftover, exists })(remote);
  if (keeper) throw leftoverKept({ keeper: `${kind.kind} ${nameOf(keeper)}` });
}

/** Ids of what uses a remote, if that is why it has to stay. Empty for one whose create may be under way. */
export const userIDsIn = (error: unknown): string[] => usersIn(error)?.map(({ id = "" }) => id) ?? [];

/** Whether a deletion has only to wait, since many remotes were deleted within the last minute. */
export const isTurnAwaited = (error: unknown): boolean => turnAwaited.valuesOf(error) !== undefined;

/**
 * Removes this owner mark from a remote. Nothing else of the remote changes. Throws a ReconcileError if it has another
 * mark by now.
 */
export async function removeOwnerMark(context: ReconcileContext, id: string, mark: string): Promise<void> {
  const remote = await readRemote(context, id);
  if (!remote) throw leftoverGone({});
  if (ownerMarkOf(remote) !== mark) throw leftoverMarked({});
  const metadata = withoutOwnerMark(metadataOf(remote)) ?? "";
  const { body } = planOfMetadata(context.kind, remote, metadata);
  await updatableRemotesOf(context).update(id, body, requestOptions(context));
}
