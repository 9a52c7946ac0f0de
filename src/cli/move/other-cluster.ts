import { updateMembers } from "../../gateway/resource.ts";
import { conditionOf, type ManagedObject, typeOf } from "../../objects/object.ts";
import { objectOf, ownerMarkOf, ownerTextOf, parseMark } from "../../objects/ownership.ts";
import type { AccountChanges } from "../../plan/account-changes.ts";
import { isConflict, isNotFound } from "../../runtime/connection/errors.ts";
import { customResourceOf } from "../../schema/common.ts";
import { annotations } from "../../schema/contract.ts";
import type { AccountReader } from "../account/reader.ts";
import { CommandError } from "../terminal/terminal.ts";
import { type Move, releaseTarget, textOf } from "./manifest.ts";
import {
  createNext,
  type MoveParts,
  type Prepared,
  read,
  refuseUnwanted,
  release,
  titleOf,
  waitForTakeover,
} from "./steps.ts";

/** What a move to another cluster needs of the account. */
export interface MoveAccount extends Pick<AccountReader, "get">, Pick<AccountChanges, "removeOwnerMark"> {
  /** The id of the old cluster in owner marks. */
  clusterID: string;
}

// The operators of two clusters do not see each other's objects, and none writes to what carries the mark of the other.
// So the old object is released first, its operator confirms that it writes nothing more, and the mark is removed before
// the new object is created. In between nobody manages the remote. The next run finds done: the release by the
// annotation, the removal by the account, and the taking by `status.id` of the new object.

/**
 * Gives the remote to an object of another cluster, which is Ready then. The old object is still there. Throws
 * CommandError before anything is changed when the other cluster would not have the new object.
 */
export async function handOverToCluster(
  parts: MoveParts,
  prepared: Prepared | undefined,
  account: MoveAccount,
): Promise<void> {
  if (prepared && !isHandedOver(prepared)) {
    if (!prepared.next) await refuseUnwanted(parts, prepared);
    await release(parts, prepared);
    await awaitRelease(parts);
    await removeMark(parts, prepared, account);
    await createNext(parts, prepared);
    if (prepared.next) await askToLook(parts, prepared.next);
  }
  await waitForTakeover(parts, prepared);
}

const isHandedOver = ({ old, next }: Prepared): boolean =>
  next?.status?.id !== undefined && next.status.id === old.status?.id;

/** Resolves when the operator of the old object has told that it writes nothing for it any more. */
async function awaitRelease({ client, move, wait }: MoveParts): Promise<void> {
  const title = titleOf(move, move.from);
  await wait(`the operator to release ${title}`, async () => {
    const old = await read(client, move, move.from);
    if (!old) throw new CommandError(`Run this again: ${title} was deleted meanwhile`);
    const paused = conditionOf(old.status, "Paused");
    // An older message is about a release to somebody else.
    return paused?.reason === "Released" && paused.message.includes(releaseTarget(move));
  });
}

/** Does nothing when the remote has no owner mark, or that of the new object. */
async function removeMark({ move, tell }: MoveParts, { old, next }: Prepared, account: MoveAccount): Promise<void> {
  const { resource } = move.kind;
  const id = old.status?.id ?? "";
  const remote = await account.get(resource, id);
  if (!remote) throw new CommandError(`Name the account of ${titleOf(move, move.from)}: this one has no ${id}`);
  const mark = ownerMarkOf(remote);
  if (mark === undefined) return;
  const owner = objectOf(mark);
  if (owner !== textOf(move.from) && next && owner === textOf(move.to)) return;
  const refused = `${titleOf(move, move.from)} cannot give ${id} away: its owner mark names ${ownerTextOf(mark)}`;
  if (owner !== textOf(move.from)) throw new CommandError(refused);
  if (parseMark(mark)?.cluster !== account.clusterID)
    throw new CommandError(
      `${refused}. If the operator of this cluster has that CLUSTER_ID, set it for the command too`,
    );
  refuseFixedMark(move, id, account.clusterID);
  const reason = await account.removeOwnerMark(move.kind, old, mark);
  if (reason !== undefined) throw new CommandError(`The mark of ${id} was not removed: ${reason}`);
  tell(`Removed the owner mark of ${titleOf(move, move.from)} from ${id}`);
}

/** An object of an earlier run may have seen the mark, and would not look again for minutes. */
async function askToLook({ there, move }: MoveParts, { metadata: { resourceVersion } }: ManagedObject): Promise<void> {
  const metadata = { resourceVersion, annotations: { [annotations.reconcileRequestedAt]: new Date().toISOString() } };
  const asked = there.patchMerge(typeOf(customResourceOf(move.kind)), move.to, { metadata });
  // Its operator has written meanwhile, so it looks already.
  await asked.catch((error: unknown) => {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  });
}

function refuseFixedMark({ kind: { resource } }: Move, id: string, cluster: string): void {
  if (updateMembers(resource).includes("metadata")) return;
  throw new CommandError(
    `Set formerClusterIDs: ["${cluster}"] in the other cluster: the mark of ${id} cannot be removed`,
  );
}
