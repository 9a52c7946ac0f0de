import { conditionOf, isOrphan } from "../../objects/object.ts";
import type { AccountObject } from "../accounts/account-objects.ts";

/** Whether objects that use the GatewayAccount may belong to another account after this change. */
export const mayChangeAccount = (old: AccountObject, { metadata }: AccountObject): boolean =>
  old.metadata.generation !== metadata.generation ||
  old.metadata.deletionTimestamp !== metadata.deletionTimestamp ||
  isOrphan(old) !== isOrphan({ metadata });

export const readyStatus = ({ status }: AccountObject): string | undefined => conditionOf(status, "Ready")?.status;
