import { hasFinalizer, type ManagedObject } from "../../objects/object.ts";
import { splitKey } from "../../runtime/object.ts";
import type { Stores } from "../kubernetes/indexes.ts";
import type { ObjectAccounts } from "./object-accounts.ts";

/**
 * How many objects have a remote that cannot be deleted without this GatewayAccount (`namespace/name`). `ended`:
 * objects that are gone and whose remotes still have to be deleted.
 */
export function countDependents(
  key: string,
  accounts: Pick<ObjectAccounts, "recordedNameOf">,
  stores: Stores,
  ended: readonly ManagedObject[] = [],
): number {
  const account = splitKey(key);
  const deleted = ended.filter(({ metadata }) => metadata.namespace === account.namespace);
  const objects = [...stores.values()].flatMap(({ store }) => store.list(account.namespace));
  return [...objects, ...deleted].filter(
    (object) => hasFinalizer(object) && accounts.recordedNameOf(object) === account.name,
  ).length;
}
