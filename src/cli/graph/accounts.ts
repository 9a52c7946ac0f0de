import type { ManagedObject } from "../../objects/object.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { DEFAULT_ACCOUNT } from "../../schema/contract.ts";
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
