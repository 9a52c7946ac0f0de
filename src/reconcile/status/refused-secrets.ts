import { isGatewayError } from "../../gateway/errors.ts";
import { secretsRefused } from "../../objects/errors/service.ts";
import { isAsSpecified } from "../../objects/object.ts";
import type { ReconcileError } from "../../objects/reconcile-error.ts";
import type { ReconcileContext } from "../context.ts";

/**
 * When the service refuses a request with a new value of a Secret, for a spec that it has accepted before, the error
 * names the Secret as what has to be corrected.
 */
export function attributeToSecrets(
  { object, state: { newSecrets = [] } }: Pick<ReconcileContext, "object" | "state">,
  error: ReconcileError | undefined,
): ReconcileError | undefined {
  const { cause } = error ?? {};
  if (newSecrets.length === 0 || !isAsSpecified(object) || error?.reason !== "InvalidSpec" || !isGatewayError(cause))
    return error;
  return secretsRefused({ names: newSecrets, answer: cause.serviceMessage ?? cause.message }, { cause });
}
