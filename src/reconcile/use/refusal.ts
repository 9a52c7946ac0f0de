import type { GatewayError } from "../../gateway/errors.ts";
import { Waiting } from "../../objects/reconcile-error.ts";
import type { ReconcileContext } from "../context.ts";

/** Services answer 400, 409 or 422 when something uses the remote, so this treats each of them as "in use". */
export function refusedAsInUse({ kind }: ReconcileContext, error: GatewayError): Waiting | undefined {
  if (error.status !== 400 && error.status !== 409 && error.status !== 422) return undefined;
  const words = error.serviceMessage ?? "it is still in use";
  return new Waiting("InUse", `Find and change what still uses this ${kind.resource.title} in the account: ${words}`, {
    cause: error,
  });
}
