import { isDeepStrictEqual } from "node:util";
import { conditionOf, reconcileRequestedAt } from "../../objects/object.ts";
import { annotations } from "../../schema/contract.ts";
import type { AccountObject } from "../accounts/all-credentials.ts";

/** Ignores changes of the status, since only the operator writes it. */
export function needsReconcile(old: AccountObject, object: AccountObject): boolean {
  const relevant = (one: AccountObject) => [
    one.metadata.generation,
    one.metadata.deletionTimestamp,
    reconcileRequestedAt(one),
  ];
  return !isDeepStrictEqual(relevant(old), relevant(object));
}

/** Whether objects that use the GatewayAccount may belong to another account after this change. */
export const mayChangeAccount = (old: AccountObject, { metadata }: AccountObject): boolean =>
  old.metadata.generation !== metadata.generation ||
  old.metadata.deletionTimestamp !== metadata.deletionTimestamp ||
  old.metadata.annotations?.[annotations.orphan] !== metadata.annotations?.[annotations.orphan];

export const readyStatus = ({ status }: AccountObject): string | undefined => conditionOf(status, "Ready")?.status;
