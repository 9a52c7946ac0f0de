import type { GatewayError } from "../../gateway/errors.ts";
import { usedInAccount } from "../../objects/errors/deletion.ts";
import type { Waiting } from "../../objects/reconcile-error.ts";
import type { ReconcileContext } from "../context.ts";

/**
 * The API page does not state how the service refuses to delete what is in use, so 400, 409 and 422 count as that.
 * Undefined for any other answer.
 */
export function inUseErrorOf({ kind }: ReconcileContext, error: GatewayError): Waiting | undefined {
  if (error.status !== 400 && error.status !== 409 && error.status !== 422) return undefined;
  const { serviceMessage: answer = "it is still in use" } = error;
  return usedInAccount({ title: kind.resource.title, answer }, { cause: error });
}
