import type { KubeClient } from "../runtime/connection/client.ts";
import { isConflict, isNotFound } from "../runtime/connection/errors.ts";
import { type Lease, leases } from "../runtime/process/lease.ts";
import { OPERATOR_NAME } from "../schema/contract.ts";

/**
 * The operator that holds the Lease, or `none`. Without a Lease it is `unknown`: an operator without leader election
 * has none.
 */
export type RunningOperator = { holder: string } | "none" | "unknown";

export async function runningOperator(
  client: KubeClient,
  namespace: string | undefined,
  now: number = Date.now(),
): Promise<RunningOperator> {
  if (namespace === undefined) return "unknown";
  try {
    const { spec = {} } = await client.get<Lease>(leases, { namespace, name: OPERATOR_NAME });
    const { holderIdentity: holder, renewTime, leaseDurationSeconds = 0 } = spec;
    const until = Date.parse(renewTime ?? "") + leaseDurationSeconds * 1000;
    return holder && until > now ? { holder } : "none";
  } catch (error) {
    if (isNotFound(error)) return "unknown";
    throw error;
  }
}

/** Deletes the Lease, unless an operator takes it at this moment. */
export async function deleteLease(client: KubeClient, namespace: string): Promise<void> {
  const ref = { namespace, name: OPERATOR_NAME };
  try {
    const { metadata, spec } = await client.get<Lease>(leases, ref);
    if (spec?.holderIdentity && (await runningOperator(client, namespace)) !== "none") return;
    await client.delete(leases, ref, { uid: metadata.uid, resourceVersion: metadata.resourceVersion });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
