import type { Remote } from "../../gateway/resource.ts";
import { intentOf } from "../../objects/intent.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import type { ReconcileContext } from "../context.ts";
import { findByIntent } from "./by-intent.ts";
import { findRemote } from "./find.ts";

/** The spec has come to mean another account while nobody knows what a create made in the one to which it was sent. */
export const isInFormerAccount = ({ accountName, specifiedAccountName, object }: ReconcileContext): boolean =>
  accountName !== specifiedAccountName && object.status?.id === undefined;

/**
 * What the create made there: it is this object's remote, whatever the spec says now. Where it made nothing, this
 * throws Outdated: the next reconcile goes on in the account that the spec asks for.
 */
export async function findInFormerAccount(context: ReconcileContext): Promise<Remote> {
  const { kind, object, account } = context;
  const intent = intentOf(object);
  if (!intent) throw new Outdated("the create is not open any more");
  const remote = await (kind.location.type === "collection" ? findByIntent(context, intent) : findRemote(context));
  if (remote) return remote;
  account.recordRefusedCreate(object, intent);
  throw new Outdated("the create made nothing in the account to which it was sent");
}
