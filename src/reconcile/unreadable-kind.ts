import { Waiting } from "../objects/reconcile-error.ts";
import { wayToRead } from "../objects/way-to-read.ts";
import type { Cluster } from "./cluster.ts";

/** Seconds until the next attempt. Usually a waiting object is triggered earlier, when its kind becomes readable. */
const AGAIN_SECONDS = 300;

/** Objects that cannot be read may forbid what is to be done. */
export class UnreadableKind extends Waiting {}

/**
 * Throws UnreadableKind while there may be objects of a kind that cannot be read. `why`: the end of the message.
 * `namespace`: where they would have to be. Default: anywhere.
 */
export function refuseUnreadableKind(
  cluster: Pick<Cluster, "visibilityOf" | "unreadNamespaces">,
  kind: string,
  reason: "InUse" | "ReferenceNotReady" | "OwnershipConflict",
  why: string,
  namespace?: string,
): void {
  if (cluster.visibilityOf(kind, namespace) !== "Unreadable") return;
  const unread = cluster.unreadNamespaces(kind);
  const meant = namespace !== undefined && unread.includes(namespace) ? [namespace] : unread;
  throw new UnreadableKind(reason, `${wayToRead(kind, meant)}: ${why}`, { afterSeconds: AGAIN_SECONDS });
}
