import type { Remote } from "../../gateway/resource.ts";
import { isNamedBySpec } from "../../objects/identity.ts";
import { openCreateOf } from "../../objects/intent.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import type { ReconcileContext } from "../context.ts";
import { findRemote } from "./find.ts";
import { findCreated } from "./ways/by-create.ts";

/** Whether the spec has come to name another account while the outcome of a create in the former one is unknown. */
export const isInFormerAccount = ({ accountName, specifiedAccountName, object }: ReconcileContext): boolean =>
  accountName !== specifiedAccountName && object.status?.id === undefined;

/**
 * The remote that the create made in the former account. It belongs to this object, whatever the spec says now. If the
 * create made nothing, the search records that and this throws Outdated. The next reconcile continues in the account that
 * the spec names.
 */
export async function findInFormerAccount(context: ReconcileContext): Promise<Remote> {
  const { kind, object } = context;
  const create = openCreateOf(object);
  if (create === undefined) throw new Outdated("the create is not open any more");
  const remote = await (isNamedBySpec(kind) ? findRemote(context) : findCreated(context, create));
  if (remote) return remote;
  throw new Outdated("the create made nothing in the account to which it was sent");
}
