import type { Remote } from "../../gateway/resource.ts";
import type { ManagedObject } from "../../objects/object.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { DEFAULT_ACCOUNT } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import type { Credentials } from "../account/credentials.ts";

/** The namespaces with a GatewayAccount called `default`. Objects there that name no account use it. */
export const namespacesWithDefault = (accounts: readonly KubeObject[]): Set<string> =>
  new Set(accounts.flatMap(({ metadata: { name, namespace = "" } }) => (name === DEFAULT_ACCOUNT ? namespace : [])));

/** Whether the remote of an object is, or will be, in this account. `defaults`: see `namespacesWithDefault`. */
export function isIn(
  { gatewayAccount }: Pick<Credentials, "gatewayAccount">,
  object: ManagedObject,
  defaults: ReadonlySet<string>,
): boolean {
  const account = accountOf(object, defaults);
  if (!gatewayAccount) return account === "";
  const { namespace, name } = gatewayAccount;
  return object.metadata.namespace === namespace && account === name;
}

/** The GatewayAccount of an object, from its own spec and status. Empty for the operator's own credentials. */
export function accountOf({ metadata, spec, status }: ManagedObject, defaults: ReadonlySet<string>): string {
  if (status?.id !== undefined) return status.account ?? "";
  return spec.accountRef?.name ?? (defaults.has(metadata.namespace) ? DEFAULT_ACCOUNT : "");
}

/** The objects of a cluster, and the remotes that the lists of an account show, by kind. */
interface Read {
  objects: ReadonlyMap<Kind, readonly ManagedObject[]>;
  remotes: ReadonlyMap<Kind, readonly Remote[]>;
  defaults: ReadonlySet<string>;
}

/**
 * The objects whose remotes are, or will be, in the account that the credentials lead to. Others may lead there as well:
 * an id is of one account only, so if the account has the remote of one object, it is the account of all objects with
 * the same GatewayAccount. `areGiven`: flags name the account. Then it is that of the operator only if nothing shows
 * another.
 */
export function objectsIn(
  { gatewayAccount }: Pick<Credentials, "gatewayAccount">,
  { objects, remotes, defaults }: Read,
  areGiven: boolean,
): Map<Kind, ManagedObject[]> {
  const credentialsOf = (object: ManagedObject): string => {
    const account = accountOf(object, defaults);
    return account && `${object.metadata.namespace}/${account}`;
  };
  const shown = new Set<string>();
  for (const [kind, all] of objects) {
    const ids = new Set(remotes.get(kind)?.map(({ id }) => id));
    for (const object of all) if (ids.has(object.status?.id ?? "")) shown.add(credentialsOf(object));
  }
  const named = gatewayAccount ? `${gatewayAccount.namespace}/${gatewayAccount.name}` : "";
  if (!areGiven || shown.size === 0) shown.add(named);
  return new Map([...objects].map(([kind, all]) => [kind, all.filter((object) => shown.has(credentialsOf(object)))]));
}
