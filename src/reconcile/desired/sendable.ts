import { flawIn, MAX_DEPTH } from "../../gateway/bounds.ts";
import { isDeleting, type ManagedObject } from "../../objects/object.ts";
import { Blocked } from "../../objects/reconcile-error.ts";

/**
 * Throws Blocked for a spec that cannot be sent as it is written. Call it before anything else reads the spec: what comes
 * later may call itself for each level. A rule of the schema cannot tell, since it knows nothing of what is inside of a
 * value of any form. A deletion sends nothing of it.
 */
export function refuseUnsendable(object: ManagedObject): void {
  const flaw = isDeleting(object) ? undefined : flawIn(object.spec);
  if (!flaw) return;
  throw new Blocked(
    "InvalidSpec",
    flaw.what === "deep"
      ? `Nest spec.${flaw.path} less deep: a spec may have ${MAX_DEPTH} levels`
      : `Write spec.${flaw.path} as a text in quotes: a number larger than 2^53 would arrive as another one`,
  );
}
