import { Outdated, Retry } from "../../objects/reconcile-error.ts";
import {
  isConflict,
  isFailedTest,
  isForbidden,
  isInvalid,
  isUnreachable,
  KubeError,
} from "../../runtime/connection/errors.ts";

/** The ReconcileError or Outdated for a failure of the API server. Any other error is returned as it is. */
export function toReconcileError(error: unknown): unknown {
  if (isConflict(error) || isFailedTest(error)) return new Outdated("the object has changed", { cause: error });
  if (isInvalid(error)) {
    // the API server's message may quote values of the object
    const fields = error.causes.map(({ field }) => field ?? "it").join(", ");
    return new Retry("Pending", `Correct ${fields}: the Kubernetes API refuses any write with it`, { cause: error });
  }
  if (isForbidden(error)) {
    const { message } = error;
    return new Retry("Forbidden", `Grant the operator's service account the right: ${message}`, { cause: error });
  }
  if (isUnreachable(error) || error instanceof KubeError) {
    return new Retry("Pending", `Waiting for the Kubernetes API: ${error.message}`, { cause: error });
  }
  return error;
}
