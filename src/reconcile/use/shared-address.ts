import type { Remote } from "../../gateway/resource.ts";
import { listenedOn } from "../../objects/identity.ts";
import { isDeleting, isOlder, nameOf } from "../../objects/object.ts";
import type { ReconcileContext } from "../context.ts";

/**
 * An address of the remote on which an older object of the account listens with another remote. The API page does not
 * say which of them gets the traffic. Undefined: there is none.
 */
export function sharedAddress(
  { kind, object, cluster }: Pick<ReconcileContext, "kind" | "object" | "cluster">,
  remote: Remote,
): { address: string; with: string } | undefined {
  for (const address of listenedOn(kind, remote)) {
    const other = cluster
      .othersListeningOn(address, object)
      .find((one) => isOlder(one, object) && !isDeleting(one) && one.status?.id !== remote.id);
    if (other) return { address, with: `${other.kind} ${nameOf(other)}` };
  }
  return undefined;
}
