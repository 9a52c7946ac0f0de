import type { KubeClient } from "../runtime/connection/client.ts";
import { isNotFound } from "../runtime/connection/errors.ts";
import { type Lease, leases } from "../runtime/process/lease.ts";
import { OPERATOR_NAME } from "../schema/contract.ts";

/**
 * Whether an operator is at work, by the Lease that it holds: who; nobody; or `unknown`, where there is no Lease, since
 * an operator that runs without leader election has none.
 */
export type AtWork = { holder: string } | "nobody" | "unknown";

export async function operatorAtWork(
  client: KubeClient,
  namespace: string | undefined,
  now: number = Date.now(),
): Promise<AtWork> {
  if (namespace === undefined) return "unknown";
  try {
    const { spec = {} } = await client.get<Lease>(leases, { namespace, name: OPERATOR_NAME });
    const { holderIdentity: holder, renewTime, leaseDurationSeconds = 0 } = spec;
    const until = Date.parse(renewTime ?? "") + leaseDurationSeconds * 1000;
    return holder && until > now ? { holder } : "nobody";
  } catch (error) {
    if (isNotFound(error)) return "unknown";
    throw error;
  }
}
