import type { Row } from "../../account/inventory.ts";
import { identityOf, isShared } from "../../objects/identity.ts";
import { type Intent, openIntentOf } from "../../objects/intent.ts";
import { asksForLook, isDeleting, isObserveOnly } from "../../objects/object.ts";
import { Blocked } from "../../objects/reconcile-error.ts";
import { look, type Pass, remotesOf } from "../context.ts";
import { desire } from "../desired/desired.ts";
import { latest, missing, recovered } from "./find.ts";
import { isPreexisting } from "./sharing.ts";

/**
 * The remote that the spec names, or undefined where it is to be made. Unlike what only its id tells from others, it
 * can be there without having been made by this object, and cannot be made twice.
 */
export async function named(pass: Pass): Promise<Row | undefined> {
  const { kind, object, cluster } = pass;
  const id = identityOf(kind, object, cluster) ?? object.status?.id;
  if (id === undefined) return unresolved(pass);
  if (!isShared(kind)) refuseRivals(pass, id);
  leaveBehind(pass, id);
  const begun = pending(pass);
  const row = (await seen(pass, id)) ?? (begun && (await recovered(pass, begun, (rows) => withID(rows, id))));
  if (!row) return absent(pass, id);
  if (begun) pass.findings.preexisting = false;
  else if (object.status?.id !== id) pass.findings.preexisting = isPreexisting(pass, id);
  return row;
}

const withID = (rows: readonly Row[], id: string): Row | undefined => rows.find((row) => row.id === id);

function absent(pass: Pass, id: string): undefined {
  const { object, findings } = pass;
  if (object.status?.id === id) findings.gone = true;
  if (isDeleting(object)) return;
  if (isObserveOnly(object) || (findings.gone && object.spec.driftPolicy === "Report")) throw missing(pass, id);
}

/** A reference is not there yet; what it is that is missing is told by who needs it. */
async function unresolved({ kind, object, cluster }: Pass): Promise<undefined> {
  if (!isDeleting(object)) await desire(kind, object, cluster);
  return undefined;
}

async function seen(pass: Pass, id: string): Promise<Row | undefined> {
  const asked = asksForLook(pass.object);
  if (pass.object.status?.id !== id) return look(pass, id, asked);
  // a list may lag behind: that it is gone counts only when it is certain
  return (await latest(pass, id)) ?? (asked ? undefined : look(pass, id, true));
}

/** The spec has come to mean another remote, such as the entry of a resource that was made anew. */
function leaveBehind(pass: Pass, id: string): void {
  const { id: before, preexisting } = pass.object.status ?? {};
  if (before === undefined || before === id || preexisting) return;
  if (remotesOf(pass).known(before)) pass.findings.retiring = before;
}

/** A create may have been sent whose outcome was never written down. */
function pending({ object, account }: Pass): Intent | undefined {
  const intent = openIntentOf(object);
  return intent && !account.wasRefused(object, intent) ? intent : undefined;
}

/** Two objects that set the same parts would undo each other's work for ever, and nothing tells which one is right. */
function refuseRivals({ kind, object, cluster }: Pass, id: string): void {
  const [other] = cluster.othersWithID(kind, id, object);
  if (!other) return;
  const { namespace, name } = other.metadata;
  throw new Blocked(
    "OwnershipConflict",
    `Delete this object or ${kind.kind} ${namespace}/${name}: both stand for ${id}, and neither is carried out`,
  );
}
