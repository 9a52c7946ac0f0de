import type { Remote } from "../../account/inventory.ts";
import { identityOf, isShared } from "../../objects/identity.ts";
import { type Intent, openIntentOf } from "../../objects/intent.ts";
import { asksForLook, isDeleting, isObserveOnly } from "../../objects/object.ts";
import { Blocked } from "../../objects/reconcile-error.ts";
import { getRemote, type ReconcileContext, remotesOf } from "../context.ts";
import { resolveDesired } from "../desired/desired.ts";
import { findInterruptedCreate, getFromRightAccount, remoteMissing } from "./find.ts";
import { isPreexisting } from "./sharing.ts";

/**
 * The remote that the spec names, or undefined where it is to be made. Unlike what only its id tells from others, it
 * can be there without having been made by this object, and cannot be made twice.
 */
export async function findBySpec(context: ReconcileContext): Promise<Remote | undefined> {
  const { kind, object, cluster } = context;
  const id = identityOf(kind, object, cluster) ?? object.status?.id;
  if (id === undefined) return unresolved(context);
  if (!isShared(kind)) refuseRivals(context, id);
  retireFormer(context, id);
  const begun = unsettledIntent(context);
  const row =
    (await getNamed(context, id)) ??
    (begun && (await findInterruptedCreate(context, begun, (rows) => withID(rows, id))));
  if (!row) return noteAbsence(context, id);
  if (begun) context.state.preexisting = false;
  else if (object.status?.id !== id) context.state.preexisting = isPreexisting(context, id);
  return row;
}

const withID = (rows: readonly Remote[], id: string): Remote | undefined => rows.find((row) => row.id === id);

function noteAbsence(context: ReconcileContext, id: string): undefined {
  const { object, changes } = context;
  if (object.status?.id === id) changes.push({ type: "Missing", id });
  if (isDeleting(object)) return;
  if (isObserveOnly(object) || (object.status?.id === id && object.spec.driftPolicy === "Report"))
    throw remoteMissing(context, id);
}

/** A reference is not there yet; what it is that is missing is told by who needs it. */
async function unresolved({ kind, object, cluster }: ReconcileContext): Promise<undefined> {
  if (!isDeleting(object)) await resolveDesired(kind, object, cluster);
  return undefined;
}

async function getNamed(context: ReconcileContext, id: string): Promise<Remote | undefined> {
  const asked = asksForLook(context.object);
  if (context.object.status?.id !== id) return getRemote(context, id, asked);
  // a list may lag behind: that it is gone counts only when it is certain
  return (await getFromRightAccount(context, id)) ?? (asked ? undefined : getRemote(context, id, true));
}

/** The spec has come to mean another remote, such as the entry of a resource that was made anew. */
function retireFormer(context: ReconcileContext, id: string): void {
  const { id: before, preexisting } = context.object.status ?? {};
  if (before === undefined || before === id || preexisting) return;
  if (remotesOf(context).known(before)) context.state.retiring = before;
}

/** A create may have been sent whose outcome was never written down. */
function unsettledIntent({ object, account }: ReconcileContext): Intent | undefined {
  const intent = openIntentOf(object);
  return intent && !account.wasRefused(object, intent) ? intent : undefined;
}

/** Two objects that set the same parts would undo each other's work for ever, and nothing tells which one is right. */
function refuseRivals({ kind, object, cluster }: ReconcileContext, id: string): void {
  const [other] = cluster.othersWithRemoteID(kind, id, object);
  if (!other) return;
  const { namespace, name } = other.metadata;
  throw new Blocked(
    "OwnershipConflict",
    `Delete this object or ${kind.kind} ${namespace}/${name}: both stand for ${id}, and neither is carried out`,
  );
}
