import type { Collection } from "../../account/remotes/collection.ts";
import type { Remote } from "../../gateway/resource.ts";
import { Outdated, Waiting } from "../../objects/reconcile-error.ts";
import { type ReconcileContext, requestOptions } from "../context.ts";
import { isKnownForeign } from "./conflicts.ts";

// Lists may leave out `metadata` and with it the owner mark. Then a GET has to show the mark before a decision relies
// on its absence. Where lists show the metadata, this file sends no request.

/** How many remotes one reconcile reads one by one, at most. */
const MOST_READ = 20;

const AGAIN_SECONDS = 1;

const collectionOf = ({ account, kind }: ReconcileContext): Collection | undefined =>
  kind.location.type === "collection" ? account.collection(kind.resource) : undefined;

/**
 * Reads those listed remotes that may belong to this object and whose owner mark is unknown. Reconciles share these
 * reads. Throws Waiting when there are more than one reconcile may read.
 */
export async function readUnlistedMarks(
  context: ReconcileContext,
  all: () => readonly Remote[],
  mayBeOurs: (remote: Remote) => boolean,
): Promise<void> {
  const collection = collectionOf(context);
  if (!collection?.hidesMarks) return;
  const unknown = all().filter((remote) => collection.isMarkUnknown(remote.id) && mayBeOurs(remote));
  const since = collection.listedAt ?? 0;
  const reads = unknown.slice(0, MOST_READ).map(({ id }) => collection.readSince(id, since, requestOptions(context)));
  await Promise.all(reads);
  const left = unknown.filter(({ id }) => collection.isMarkUnknown(id)).length;
  if (unknown.length <= MOST_READ || left === 0) return;
  throw new Waiting(
    "Creating",
    `Reading ${left} more of the account, one by one: its lists do not show to whom a ${context.kind.resource.title} belongs`,
    { afterSeconds: AGAIN_SECONDS },
  );
}

/**
 * Call it before a remote that the object has is changed or deleted. Throws Outdated when it has come to carry the mark
 * of another owner since the latest answer about it.
 */
export async function refuseNewForeignMark(context: ReconcileContext, id: string): Promise<void> {
  const collection = collectionOf(context);
  if (!collection?.isMarkStale(id)) return;
  await collection.read(id, requestOptions(context));
  if (isKnownForeign(context, id)) throw new Outdated(`${id} belongs to somebody else by now`);
}
