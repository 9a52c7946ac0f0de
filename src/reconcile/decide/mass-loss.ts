import { type Loss, type MissingRemote, RECHECK_DELAYS } from "../../account/mass-loss-guard.ts";
import { massLoss, namedAccount } from "../../objects/errors/account.ts";
import { listedID } from "../../objects/identity.ts";
import { isDeleting, type ManagedObject } from "../../objects/object.ts";
import type { Blocked } from "../../objects/reconcile-error.ts";
import { type Kind, listOf } from "../../schema/define.ts";
import type { ReconcileContext } from "../context.ts";

/** If fewer remotes than this are missing, a person may have deleted them by hand. */
const FEWEST = 5;
const SHARE = 0.1;

/**
 * How many deletions of one kind may be under way when a process is killed. The next process gets 404 for all of them.
 */
const UNDER_WAY = 32;

/**
 * Throws Blocked (AccountMismatch) when so many remotes of all kinds are missing that a person has to confirm that they
 * were deleted: it may be another account, or a service that shows too little. Remotes that were lost within one resync
 * and created again count as well, because the lists of the kinds are read one after the other.
 */
export function refuseMassLoss(context: ReconcileContext): void {
  const { lossGuard } = context.account;
  const loss = countLoss(context, context.cluster.kinds, (object) => !isDeleting(object));
  if (lossGuard.isConfirmed(credentialsOf(context))) acceptLoss(context, loss);
  else if (isMass(loss)) throw mismatch(context, loss);
}

/**
 * Like `refuseMassLoss`, for a delete that was answered 404. `surprising`: the remote was listed, and no delete of it
 * was sent before. Otherwise, a process that was killed may have deleted the remotes of objects that are being deleted,
 * so more of them may be missing.
 */
export function refuseDeletionInMassLoss(context: ReconcileContext, surprising: boolean): void {
  const { lossGuard } = context.account;
  refuseMassLoss(context);
  if (lossGuard.isConfirmed(credentialsOf(context))) return;
  const loss = countLoss(context, [context.kind], () => true);
  const few = surprising || lossGuard.isSuspected ? FEWEST - 1 : UNDER_WAY;
  if (loss.missing === loss.total && loss.missing > few) throw mismatch(context, loss);
}

/** Never create a remote in a suspected account that has none of the remotes of other objects. */
export function createInMassLoss(context: ReconcileContext): Blocked | undefined {
  const { lossGuard } = context.account;
  if (!lossGuard.isSuspected || lossGuard.isConfirmed(credentialsOf(context))) return undefined;
  const loss = countLoss(context, [context.kind], (object) => !isDeleting(object));
  // An object without a remote is in no list, so no list delta triggers its reconcile. It has to be retried by time.
  const isRefused = isMass(loss) && loss.missing === loss.total;
  return isRefused ? mismatch(context, loss, RECHECK_DELAYS.cap) : undefined;
}

/** Records that the remote of this object is certainly gone and may be created again. */
export function recordLoss(context: ReconcileContext, id: string): void {
  if (!isDeleting(context.object)) context.account.lossGuard.recordLost(listedID(context.kind, id));
}

interface CountedLoss extends Loss {
  /** Objects whose remotes are missing. */
  objects: ManagedObject[];
}

function countLoss(
  context: ReconcileContext,
  kinds: readonly Kind[],
  counts: (object: ManagedObject) => boolean,
): CountedLoss {
  const known = kinds.flatMap((kind) => knownOf(context, kind, counts));
  const missing = known.filter(({ isMissing }) => isMissing);
  const lost = kinds.length > 1 ? context.account.lossGuard.recentlyLost : [];
  const count = (some: readonly KnownRemote[]) => new Set([...some.map(({ id }) => id), ...lost]).size;
  return { missing: count(missing), total: count(known), objects: missing.map(({ object }) => object) };
}

interface KnownRemote {
  object: ManagedObject;
  /** The id under which the loss is counted: an entry is lost together with the remote that has the list. */
  id: string;
  isMissing: boolean;
}

/** The recorded remotes of a kind in the account of this reconcile. Without a list, nothing could show them missing. */
function knownOf(context: ReconcileContext, kind: Kind, counts: (object: ManagedObject) => boolean): KnownRemote[] {
  if (!listOf(kind)) return [];
  const { account } = context;
  const remotes = account.remotes(kind);
  const isMissing = (id: string) => remotes.isMissing(id) && !account.lossGuard.isAccepted(id);
  return context.cluster
    .inAccount(kind, context.object)
    .filter(counts)
    .flatMap((object) => {
      const id = object.status?.id;
      return id === undefined ? [] : [{ object, id: listedID(kind, id), isMissing: isMissing(id) }];
    });
}

/**
 * Marks a confirmed loss, so that it does not count later. A confirmation covers only the namespace of the person who
 * gives it.
 */
function acceptLoss(context: ReconcileContext, { objects }: CountedLoss): void {
  const { namespace } = context.object.metadata;
  const isMeant = ({ metadata, status }: ManagedObject) =>
    (status?.account ?? "") === context.accountName && (context.accountName === "" || metadata.namespace === namespace);
  for (const { status } of objects.filter(isMeant)) context.account.lossGuard.accept(status?.id ?? "");
}

const isMass = ({ missing, total }: Loss): boolean => missing >= FEWEST && missing > total * SHARE;

/** `namespace/name` of the GatewayAccount; empty for the operator's own credentials. */
const credentialsOf = ({ object, accountName }: ReconcileContext): string =>
  accountName && `${object.metadata.namespace}/${accountName}`;

function mismatch(context: ReconcileContext, { missing, total }: Loss, afterSeconds?: number): Blocked {
  const suspect = suspectOf(context);
  if (suspect.id !== "") context.account.lossGuard.suspect(suspect, { missing, total });
  return massLoss({ missing, total, object: namedAccount(context.accountName) }, { afterSeconds });
}

/** The remote that is read to see whether it is back. An entry cannot be read alone, so its parent is. */
function suspectOf({ kind, object }: ReconcileContext): MissingRemote {
  const id = object.status?.id ?? "";
  return { resource: listOf(kind) ?? kind.resource, id: listedID(kind, id) };
}
