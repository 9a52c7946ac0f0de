import { namespaces } from "../../operator/kubernetes/resource-types.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isForbidden, isNotFound } from "../../runtime/connection/errors.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { CommandError } from "../terminal/terminal.ts";
import { includes, type Scope } from "./scope.ts";

/** Whether there is no such namespace. False where the user may not read that. */
export async function isNamespaceAbsent(client: Pick<KubeClient, "get">, name: string): Promise<boolean> {
  try {
    await client.get(namespaces, { name }, { metadataOnly: true });
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    if (isForbidden(error)) return false;
    throw error;
  }
}

/** A name that is wrong is no empty namespace. Asks the cluster only if none of these objects is in it. */
export async function refuseAbsentNamespace(
  client: Pick<KubeClient, "get">,
  scope: Scope,
  objects: Iterable<KubeObject>,
): Promise<void> {
  if (scope.isAll || [...objects].some(({ metadata }) => includes(scope, metadata.namespace))) return;
  if (await isNamespaceAbsent(client, scope.namespace)) throw noNamespace(scope.namespace);
}

export const noNamespace = (name: string): CommandError =>
  new CommandError(`There is no namespace ${name}: name another one with -n, or see -A`);
