import type { Collection } from "../../account/remotes/collection.ts";
import type { Remote } from "../../gateway/resource.ts";
import { marksUnlisted } from "../../objects/errors/change.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import { type ReconcileContext, requestOptions } from "../context.ts";
import { isKnownForeign } from "./conflicts.ts";

// Lists may leave out `metadata` and with it the owner mark. Then a GET has to show the mark before a decision relies
// on its absence. Where lists show the metadata, this file sends no request.

/** How many remotes one reconcile reads one by one, at most. */
const MOST_READ = 20;

const AGAIN_SECONDS = 1;

const collectionOf = ({ account, kind }: ReconcileContext): Collection | undefined => account.collectionOf(kind);

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
  if (!collection?.marks?.areHidden) return;
  const { marks } = collection;
  const unknown = all().filter((remote) => marks.isUnknown(remote.id) && mayBeOurs(remote));
  if (unknown.length === 0) return;
  const ids = [...witnessOf(context, collection), ...unknown.slice(0, MOST_READ).map(({ id }) => id)];
  const since = collection.listedAt ?? 0;
  await Promise.all(ids.map((id) => collection.readSince(id, since, requestOptions(context))));
  const left = unknown.filter(({ id }) => marks.isUnknown(id)).length;
  if (unknown.length <= MOST_READ || left === 0) return;
  throw marksUnlisted({ left, title: context.kind.resource.title }, { afterSeconds: AGAIN_SECONDS });
}

/**
 * A listed remote that an object of this operator has, so it is likely to be marked. If a GET of it shows metadata, the
 * list has left the metadata out. Then answers without metadata prove nothing about the other remotes, however many.
 */
function witnessOf({ cluster, kind, object }: ReconcileContext, collection: Collection): string[] {
  const { marks } = collection;
  if (marks?.areSurelyHidden) return [];
  const isUnknown = (id: string) => marks?.isUnknown(id) === true && collection.cached(id) !== undefined;
  return cluster.remoteIDsBeside(kind, object).filter(isUnknown).slice(0, 1);
}

/** Whether it is known whose mark a remote has, or that it has none. Somebody may have marked it since. */
export const isMarkKnown = (context: ReconcileContext, id: string): boolean =>
  collectionOf(context)?.marks?.isUnknown(id) !== true;

/**
 * Call it before a decision relies on the owner mark of a remote. Reads the remote if the latest list does not show the
 * mark. Reconciles share that read.
 */
export async function readMark(context: ReconcileContext, id: string): Promise<void> {
  const collection = collectionOf(context);
  if (collection?.marks?.isStale(id)) await collection.readSince(id, collection.listedAt ?? 0, requestOptions(context));
}

/**
 * Call it before a remote that the object has is changed, or replaced by another one; a deletion asks
 * `markedByNobodyElse`. Throws Outdated when answers show that it is somebody else's. Reads the remote first where lists
 * hide marks, unless the inventory lacks it, for example because an earlier process has deleted it.
 */
export async function refuseNewForeignMark(context: ReconcileContext, id: string): Promise<void> {
  const collection = collectionOf(context);
  const mayBeMarked = collection?.cached(id) !== undefined && collection.marks?.isStale(id);
  if (mayBeMarked) await collection.read(id, requestOptions(context));
  // A GET that confirmed drift may have shown it as well.
  if (isKnownForeign(context, id)) throw new Outdated(`${id} belongs to somebody else by now`);
}
