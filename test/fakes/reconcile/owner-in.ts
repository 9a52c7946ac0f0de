import { ownerMarkOf, ownerTextOf } from "../../../src/objects/ownership.ts";
import type { Answer } from "../../../src/schema/define.ts";

/** The object in the owner mark of a remote, without the create. */
export function ownerIn(remote: Answer): string | undefined {
  const mark = ownerMarkOf(remote);
  return mark === undefined ? undefined : ownerTextOf(mark);
}
