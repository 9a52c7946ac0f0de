import type { ClusterConfig } from "../../config.ts";
import { type Installation, installationOf } from "../../operator/installations/record.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isNotFound } from "../../runtime/connection/errors.ts";
import { type Lease, type LeaseSpec, leases } from "../../runtime/process/lease.ts";
import { leaseNameOf } from "../../schema/contract.ts";

/**
 * The operator that holds the Lease, and which objects it claims if the Lease says so; or `none`. Without a Lease it is
 * `unknown`: an operator without leader election has none.
 */
export type RunningOperator = { holder: string; installation?: Installation | undefined } | "none" | "unknown";

type Whose = Pick<ClusterConfig, "podNamespace" | "installation">;

export async function runningOperator(
  client: KubeClient,
  { podNamespace: namespace, installation }: Whose,
  now: number = Date.now(),
): Promise<RunningOperator> {
  if (namespace === undefined) return "unknown";
  try {
    const lease = await client.get<Lease>(leases, { namespace, name: leaseNameOf(installation) });
    const { holderIdentity: holder } = lease.spec ?? {};
    return holder && isHeld(lease.spec, now) ? { holder, installation: installationOf(lease) } : "none";
  } catch (error) {
    if (isNotFound(error)) return "unknown";
    throw error;
  }
}

/** Whether the Lease is held. Assumes that the clock here agrees with the clock of its holder. */
export function isHeld({ holderIdentity, renewTime, leaseDurationSeconds = 0 }: LeaseSpec = {}, now: number): boolean {
  return Boolean(holderIdentity) && Date.parse(renewTime ?? "") + leaseDurationSeconds * 1000 > now;
}
