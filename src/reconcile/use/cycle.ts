import type { ReconcileContext } from "../context.ts";
import { findAllUsers, findUsers, isBeingRemoved, type Target, type Users } from "./users.ts";

/**
 * Whether the target and all its direct and indirect users are being deleted, and each waits for another. The answer is
 * nearly always no, and then it takes no request.
 */
export async function isCycle(context: ReconcileContext, target: Target): Promise<boolean> {
  const { cluster } = context;
  const likely = await cycleOf(target, (one) => findUsers(context, one, Number.POSITIVE_INFINITY));
  if (likely.length === 0) return false;
  const members = await cycleOf(target, (one) => findAllUsers(context, one));
  const kinds = [...new Set(members.map(({ kind }) => kind))];
  const keepRemotes = await Promise.all(kinds.map((kind) => cluster.reading.isKindDeleting(kind)));
  return members.length > 0 && !keepRemotes.includes(true);
}

/** The target and all its users. Empty if one of them stays, or can be deleted without the others. */
async function cycleOf(target: Target, search: (target: Target) => Promise<Users>): Promise<Target[]> {
  const members = new Map([[target.id, target]]);
  let isClosed = false;
  // Iterating over a map also visits members that are added meanwhile.
  for (const member of members.values()) {
    const users = usersBeingRemoved(await search(member));
    if (users.length === 0) return [];
    isClosed ||= users.some(({ id }) => id === target.id);
    for (const user of users) if (!members.has(user.id)) members.set(user.id, user);
  }
  return isClosed ? [...members.values()] : [];
}

/** All users, or none if one of them is not about to be deleted. */
function usersBeingRemoved({ users, unseen }: Users): Target[] {
  const ending = users.flatMap((user) =>
    isBeingRemoved(user) && user.id !== undefined ? [{ ...user, id: user.id }] : [],
  );
  return unseen.length === 0 && ending.length === users.length ? ending : [];
}
