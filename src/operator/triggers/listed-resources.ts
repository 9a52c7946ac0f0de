import type { Account } from "../../account/account.ts";
import type { Resource } from "../../gateway/resource.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { type Kind, listOf } from "../../schema/define.ts";
import { targetKindsOf } from "../../schema/wire/needs.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Stores } from "../kubernetes/indexes.ts";

/** A resource, and the kinds whose remotes its list shows. */
export interface ListedResource {
  resource: Resource;
  kinds: readonly Kind[];
  /** The list is read where an object of these kinds has a remote. */
  usedBy: readonly Kind[];
}

export function listedResources(kinds: readonly Kind[]): ListedResource[] {
  const resources = [...new Set(kinds.map(listOf))].filter((resource) => resource !== undefined);
  return resources.map((resource) => {
    const shown = kinds.filter((kind) => listOf(kind) === resource);
    return {
      resource,
      kinds: shown,
      usedBy: [...new Set([...shown, ...shown.flatMap((kind) => servers(kind, kinds))])],
    };
  });
}

/**
 * The kinds whose remotes a kind may be served with. A certificate that the service has issued itself, or that has no
 * object, expires too, and only the list shows when.
 */
const servers = (kind: Kind, kinds: readonly Kind[]): Kind[] =>
  kind.validity ? kinds.filter(({ spec }) => targetKindsOf(spec).includes(kind.kind)) : [];

export interface AccountLookup {
  accounts: Pick<Accounts, "accountOf" | "most">;
  informers: Stores;
}

/** The accounts in which an object of these kinds has a remote. Looks at no more objects once all accounts are found. */
export function accountsUsed(kinds: readonly Kind[], { accounts, informers }: AccountLookup): Account[] {
  const used = new Set<Account>();
  for (const object of withRemote(kinds, informers)) {
    const account = accountOf(accounts, object);
    if (account) used.add(account);
    if (used.size >= accounts.most) break;
  }
  return [...used];
}

function* withRemote(kinds: readonly Kind[], informers: Stores): Generator<ManagedObject> {
  for (const { kind } of kinds)
    for (const object of informers.get(kind)?.store.list() ?? []) if (object.status?.id !== undefined) yield object;
}

/** Undefined if the object's account does not exist or may not be used: the object's own reconcile reports that. */
export function accountOf(accounts: Pick<Accounts, "accountOf">, object: ManagedObject): Account | undefined {
  try {
    return accounts.accountOf(object);
  } catch {
    return undefined;
  }
}
