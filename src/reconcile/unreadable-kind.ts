import { Waiting } from "../objects/reconcile-error.ts";
import type { Cluster } from "./cluster.ts";

/** Seconds until the next attempt. Usually a waiting object is triggered earlier, when its kind becomes readable. */
const AGAIN_SECONDS = 300;

/**
 * Throws Waiting while the operator cannot read a kind, so that there may be objects of it. `why`: the end of the
 * message.
 */
export function refuseUnreadableKind(
  cluster: Pick<Cluster, "visibilityOf">,
  kind: string,
  reason: "InUse" | "ReferenceNotReady",
  why: string,
): void {
  if (cluster.visibilityOf(kind) !== "Unreadable") return;
  throw new Waiting(reason, `Let the operator list and watch all ${kind} objects: ${why}`, {
    afterSeconds: AGAIN_SECONDS,
  });
}
