import type { GatewayError } from "../../gateway/errors.ts";
import { usedInAccount } from "../../objects/errors/deletion.ts";
import type { Waiting } from "../../objects/reconcile-error.ts";
import type { ReconcileContext } from "../context.ts";

/** Services answer 400, 409 or 422 when something uses the remote, so this treats each of them as "in use". */
export function refusedAsInUse({ kind }: ReconcileContext, error: GatewayError): Waiting | undefined {
  if (error.status !== 400 && error.status !== 409 && error.status !== 422) return undefined;
  const { serviceMessage: answer = "it is still in use" } = error;
  return usedInAccount({ title: kind.resource.title, answer }, { cause: error });
}
