import type { KubeObject, ResourceType } from "../object.ts";

export const leases: ResourceType = { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" };

/** The spec of coordination.k8s.io/v1. Times are MicroTimes. */
export interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

export type Lease = KubeObject & { spec?: LeaseSpec };

/** The spec of a lease that is taken or renewed. A new holder sets acquireTime and counts as a transition. */
export function heldBy(identity: string, leaseSeconds: number, now: string, before: LeaseSpec = {}): LeaseSpec {
  const renews = before.holderIdentity === identity;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: leaseSeconds,
    acquireTime: renews ? (before.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: (before.leaseTransitions ?? 0) + (renews || !before.renewTime ? 0 : 1),
  };
}

/** The spec of a lease that anybody may take at once. */
export const released = (now: string, { leaseTransitions = 0 }: LeaseSpec = {}): LeaseSpec => ({
  holderIdentity: "",
  leaseDurationSeconds: 1,
  acquireTime: now,
  renewTime: now,
  leaseTransitions,
});
