import { isDeepStrictEqual } from "node:util";
import { writtenForOperator } from "../../objects/annotations.ts";
import { conditionOf, isOrphan } from "../../objects/object.ts";
import type { AccountObject } from "../accounts/all-credentials.ts";

/** Ignores changes of the status, since only the operator writes it. */
export function needsReconcile(old: AccountObject, object: AccountObject): boolean {
  const relevant = (one: AccountObject) => [
    one.metadata.generation,
    one.metadata.deletionTimestamp,
    writtenForOperator(one),
  ];
  return !isDeepStrictEqual(relevant(old), relevant(object));
}

/** Whether objects that use the GatewayAccount may belong to another account after this change. */
export const mayChangeAccount = (old: AccountObject, { metadata }: AccountObject): boolean =>
  old.metadata.generation !== metadata.generation ||
  old.metadata.deletionTimestamp !== metadata.deletionTimestamp ||
  isOrphan(old) !== isOrphan({ metadata });

export const readyStatus = ({ status }: AccountObject): string | undefined => conditionOf(status, "Ready")?.status;
