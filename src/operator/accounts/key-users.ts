import type { ManagedObject } from "../../objects/object.ts";
import type { KeyUser, KnownKey } from "../../reconcile/cluster.ts";
import type { Store } from "../../runtime/cache/store.ts";
import { keyOf, splitKey } from "../../runtime/object.ts";
import type { AccountObject } from "./account-objects.ts";
import type { Accounts } from "./accounts.ts";

interface KeyUsersOptions {
  accounts: Pick<Accounts, "usersOfKey" | "ofObjects">;
  store: Store<AccountObject>;
  countDependents: (key: string) => number;
  /** Kinds whose objects the operator may be unable to read in a namespace, so that they are not counted. */
  unreadableKinds: (namespace: string) => readonly string[];
}

/**
 * Who uses the API key for which an object stands. Leaves out a GatewayAccount that is being deleted and waits for this
 * object alone: then the key deletes itself last.
 */
export function keyUsersOf(
  { accounts, store, countDependents, unreadableKinds }: KeyUsersOptions,
  object: ManagedObject,
  { digest, record, secretName }: KnownKey,
): KeyUser[] {
  const { namespace } = object.metadata;
  const secret = secretName === undefined ? undefined : { namespace, name: secretName };
  const own = `${namespace}/${accounts.ofObjects.recordedNameOf(object)}`;
  return accounts.usersOfKey({ digest, record, secret }).flatMap((key): KeyUser[] => {
    if (key === "") return [{ name: "the operator", isDeleting: false }];
    const account = store.get(key);
    if (!account) return [];
    const isDeleting = account.metadata.deletionTimestamp !== undefined;
    const others = countDependents(key) - (key === own ? 1 : 0);
    if (isDeleting && others <= 0 && unreadableKinds(splitKey(key).namespace).length === 0) return [];
    return [{ name: `GatewayAccount ${keyOf(account)}`, namespace: splitKey(key).namespace, isDeleting }];
  });
}
