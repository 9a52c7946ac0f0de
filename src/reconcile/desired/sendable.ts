import { flawIn, MAX_DEPTH } from "../../gateway/bounds.ts";
import { numberTooLarge, tooDeep } from "../../objects/errors/spec.ts";
import { isDeleting, type ManagedObject } from "../../objects/object.ts";

/**
 * Throws Blocked for a spec that cannot be sent as it is written. Call it before anything else reads the spec: what comes
 * later may call itself for each level. A rule of the schema cannot tell, since it knows nothing of what is inside of a
 * value of any form. A deletion sends nothing of it.
 */
export function refuseUnsendable(object: ManagedObject): void {
  const flaw = isDeleting(object) ? undefined : flawIn(object.spec);
  if (!flaw) return;
  throw flaw.what === "deep" ? tooDeep({ path: flaw.path, most: MAX_DEPTH }) : numberTooLarge({ path: flaw.path });
}
