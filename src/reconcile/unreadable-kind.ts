import { Waiting } from "../objects/reconcile-error.ts";
import type { Cluster } from "./cluster.ts";

/** When a kind comes to be read, everything that waits is woken. This is for the case that it is not. */
const AGAIN_SECONDS = 300;

/** Throws Waiting while there may be objects of a kind that cannot be read. `why`: the end of the message. */
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
