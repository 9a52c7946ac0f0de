import type { Remote } from "../../gateway/resource.ts";
import type { ManagedObject } from "../../objects/object.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { DEFAULT_ACCOUNT } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import type { Sharers } from "../account/credentials.ts";

/** The namespaces with a GatewayAccount called `default`. Objects there that name no account use it. */
export const namespacesWithDefault = (accounts: readonly KubeObject[]): Set<string> =>
  new Set(accounts.flatMap(({ metadata: { name, namespace = "" } }) => (name === DEFAULT_ACCOUNT ? namespace : [])));

/** The GatewayAccount of an object, from its own spec and status. Empty for the operator's own credentials. */
export function accountOf({ metadata, spec, status }: ManagedObject, defaults: ReadonlySet<string>): string {
  if (status?.id !== undefined) return status.account ?? "";
  return spec.accountRef?.name ?? (defaults.has(metadata.namespace) ? DEFAULT_ACCOUNT : "");
}

/** `<namespace>/<name>` of the GatewayAccount of an object. Empty for the operator's own credentials. */
export function credentialsOf(object: ManagedObject, defaults: ReadonlySet<string>): string {
  const account = accountOf(object, defaults);
  return account && `${object.metadata.namespace}/${account}`;
}

/** Which account is meant, and what is known of it. */
interface Known {
  sharers: Sharers;
  objects: ReadonlyMap<Kind, readonly ManagedObject[]>;
  /** The remotes that the lists of the account show. */
  remotes: ReadonlyMap<Kind, readonly Remote[]>;
  defaults: ReadonlySet<string>;
}

/**
 * Tells of an object whether its remote is, or will be, in the account. Several credentials may lead there: those with
 * the same address and key and, where a key cannot be read, those of an object whose remote the account has, since an id
 * is of one account only.
 */
export function membersOf({ sharers, objects, remotes, defaults }: Known): (object: ManagedObject) => boolean {
  const leading = new Set(sharers.names);
  for (const [kind, all] of objects) {
    const ids = new Set(remotes.get(kind)?.map(({ id }) => id));
    for (const object of all) if (ids.has(object.status?.id ?? "")) leading.add(credentialsOf(object, defaults));
  }
  if (sharers.areGiven && leading.size === 0) leading.add("");
  return (object) => leading.has(credentialsOf(object, defaults));
}
