import type { CallOptions, KubeClient } from "../../runtime/connection/client.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { type Lease, leases } from "../../runtime/process/lease.ts";
import { OPERATOR_NAME } from "../../schema/contract.ts";

/** The Leases of all operators that elect a leader. An operator may be in another namespace than its objects. */
export const operatorLeases = async (
  client: Pick<KubeClient, "listAll">,
  options: CallOptions = {},
): Promise<Lease[]> => (await client.listAll<Lease>(leases, options)).items.filter(isOperatorLease);

/** A name with a dot is that of a copy. */
const isOperatorLease = ({ metadata: { name } }: KubeObject): boolean =>
  name === OPERATOR_NAME || (name.startsWith(`${OPERATOR_NAME}-`) && !name.includes("."));
