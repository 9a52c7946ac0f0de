import { INSTALLATIONS } from "../../operator/installations/record.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isConflict, isForbidden, isNotFound } from "../../runtime/connection/errors.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { type Lease, leases } from "../../runtime/process/lease.ts";
import { leaseCopyNameOf, leaseNameOf } from "../../schema/contract.ts";
import { isHeld } from "../cluster/running-operator.ts";
import type { Uninstallation } from "./uninstallation.ts";

/**
 * Deletes the Lease of an operator that has ended, and the copies of it that other installations can see. The operator
 * makes them, so Helm does not know of them. Does nothing while an operator holds the Lease. Where a right is missing
 * this is only told, since a copy ends by itself.
 */
export async function deleteLeases({ client, config, terminal }: Uninstallation): Promise<void> {
  const { podNamespace: home, installation, watchNamespaces } = config;
  if (home === undefined) return;
  const name = leaseCopyNameOf(installation, home);
  const tellForbidden = <T>(work: Promise<T>): Promise<T | undefined> =>
    work.catch((error) => {
      if (!isForbidden(error)) throw error;
      terminal.warn(`A copy of the operator's Lease may be left, which ends by itself: ${error.message}`);
      return undefined;
    });
  const scopes = watchNamespaces.length > 0 ? watchNamespaces : [undefined];
  // Listed before the Lease is looked at: an operator that starts after that writes its copies anew.
  const copies = await Promise.all(scopes.map((namespace) => tellForbidden(copiesIn(client, namespace, name))));
  if (!(await deleteLease(client, { namespace: home, name: leaseNameOf(installation) }))) return;
  await Promise.all(
    copies.flatMap((found) => (found ?? []).map((copy) => tellForbidden(deleteUnchanged(client, copy)))),
  );
}

/** With no namespace, in all of them. */
async function copiesIn(client: KubeClient, namespace: string | undefined, name: string): Promise<Lease[]> {
  const { items } = await client.listAll<Lease>(leases, { namespace, labelSelector: INSTALLATIONS });
  return items.filter(({ metadata }) => metadata.name === name);
}

/** Resolves with false if an operator holds the Lease. */
async function deleteLease(client: KubeClient, ref: { namespace: string; name: string }): Promise<boolean> {
  try {
    const lease = await client.get<Lease>(leases, ref);
    return !isHeld(lease.spec, Date.now()) && (await deleteUnchanged(client, lease));
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}

/** Resolves with false if somebody has written to it meanwhile. */
async function deleteUnchanged(client: KubeClient, { metadata }: KubeObject): Promise<boolean> {
  const { namespace, name, uid, resourceVersion } = metadata;
  try {
    await client.delete(leases, { namespace, name }, { uid, resourceVersion });
    return true;
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
    return isNotFound(error);
  }
}
