import { isReconcileError } from "../../objects/reconcile-error.ts";
import type { KubeObject } from "../../runtime/object.ts";
import type { EventRecorder } from "../../runtime/process/events.ts";

/**
 * Tells by an event that the API server refuses the status of an object: nobody can read it in the object. An outage is
 * not told, since it ends by itself. Returns the error. Call it wherever a status is written.
 */
export function tellUnwritten(
  recorder: Pick<EventRecorder, "emit">,
  { apiVersion, kind, metadata }: Pick<KubeObject, "apiVersion" | "kind" | "metadata">,
  error: unknown,
): unknown {
  if (isReconcileError(error) && error.reason !== "Pending") {
    const { reason, message: note } = error;
    recorder.emit({ object: { apiVersion, kind, metadata }, type: "Warning", reason, action: "WriteStatus", note });
  }
  return error;
}
