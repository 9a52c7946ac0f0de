import { waitFor } from "../../../account/requests/turn.ts";
import type { Remote } from "../../../gateway/resource.ts";
import { adoptionChanged } from "../../../objects/errors/ownership.ts";
import {
  isDeleting,
  isObserveOnly,
  isObserver,
  isReconcileRequested,
  type ManagedObject,
} from "../../../objects/object.ts";
import { originOf } from "../../../objects/origin.ts";
import { refuse } from "../../../objects/reconcile-error.ts";
import { readinessOf } from "../../../schema/readiness.ts";
import {
  getRemote,
  type ReconcileContext,
  readRemote,
  remotesOf,
  requestOptions,
  serviceEpochMs,
} from "../../context.ts";
import { foreignMark, missingRemote } from "../../decide/conflicts.ts";
import { earlierHolder } from "../../decide/holders.ts";
import { recordLoss, refuseDeletionInMassLoss, refuseMassLoss } from "../../decide/mass-loss.ts";
import { adopt } from "./by-adopt.ts";
import { findByOwnerMark } from "./by-owner-mark.ts";

/**
 * The remote with the id in the status. If the service answers that it does not exist: one with this object's mark,
 * because a status that was restored from a backup may name an earlier remote. Undefined when there is neither.
 */
export async function findByStatusID(context: ReconcileContext, id: string): Promise<Remote | undefined> {
  const { object } = context;
  refuseOtherAdoption(object, id);
  refuse(await earlierHolder(context, id));
  const remote = await getFromRightAccount(context, id);
  if (remote && isObserver(object)) return adopt(context, id, remote);
  refuse(remote && foreignMark(context, remote));
  if (remote) return remote;
  context.changes.push({ type: "Missing", id });
  if (isDeleting(object)) return undefined;
  // What the operator has deleted itself, to create it again, is no drift.
  const isReported = object.spec.driftPolicy === "Report" && object.status?.recreating !== id;
  if (isObserveOnly(object) || isReported) throw missingRemote(context, id);
  return findByOwnerMark(context);
}

/**
 * Throws Blocked when spec.adopt names another remote than the adopted one. To follow it would leave the first remote
 * changed and without an owner.
 */
function refuseOtherAdoption(object: ManagedObject, id: string): void {
  const wanted = object.spec.adopt?.id;
  if (wanted === undefined || wanted === id || isDeleting(object) || originOf(object) !== "Adopted") return;
  throw adoptionChanged({ id, asked: wanted });
}

/**
 * The remote with this id, up to date. Throws Blocked when so many other remotes are missing that the API key may
 * belong to another account.
 */
export async function getFromRightAccount(context: ReconcileContext, id: string): Promise<Remote | undefined> {
  await refuseWrongAccount(context, id);
  const remote = await getUpToDate(context, id);
  // A 404 for a listed remote makes the list stale, so the others are counted in a new list.
  if (!remote) {
    await refuseWrongAccount(context, id);
    recordLoss(context, id);
  }
  return remote;
}

async function refuseWrongAccount(context: ReconcileContext, id: string): Promise<void> {
  const remotes = remotesOf(context);
  await remotes.listed(0, requestOptions(context));
  if (!remotes.isMissing(id)) return;
  await waitFor(context.account.keyProof.ensure(), context);
  if (isDeleting(context.object)) refuseDeletionInMassLoss(context, false);
  else refuseMassLoss(context);
}

/** A remote that changes by itself, such as a certificate being provisioned, is read again when it is due. */
async function getUpToDate(context: ReconcileContext, id: string): Promise<Remote | undefined> {
  const { object, clock, kind, account } = context;
  const remotes = remotesOf(context);
  const known = remotes.cached(id);
  const seconds = known && pollSeconds(context, known);
  if (isReconcileRequested(object)) return readRemote(context, id);
  const collection = account.collectionOf(kind);
  if (seconds === undefined || isDeleting(object) || !collection) return getRemote(context, id);
  const polled = remotes.allCached().filter((remote) => pollSeconds(context, remote) !== undefined).length;
  const since = clock.now() - (seconds * 1000) / 2;
  return collection.getSince(id, since, polled, requestOptions(context));
}

const pollSeconds = (context: ReconcileContext, remote: Remote): number | undefined =>
  readinessOf(context.kind, remote, context.object.spec, serviceEpochMs(context)).readiness.afterSeconds;
