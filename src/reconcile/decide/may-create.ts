import { refuse } from "../../objects/reconcile-error.ts";
import type { ReconcileContext } from "../context.ts";
import { hasOutput } from "../features.ts";
import { type Check, firstRefusal } from "./check.ts";
import { createInMassLoss } from "./mass-loss.ts";
import { withoutPlace } from "./output-place.ts";

/** Once the search has found no remote, a create passes these checks, in this order. No way to create leaves one out. */
export const mayCreate: readonly Check<undefined, "valueHasPlace" | "accountIsBelieved">[] = [
  {
    name: "valueHasPlace",
    why: "A value that is shown once, and that no Secret can take, would be lost, and made again and again.",
    refuse: (context) => (hasOutput(context) ? withoutPlace(context) : undefined),
  },
  {
    name: "accountIsBelieved",
    why: "In an account that lacks the remotes of other objects, everything would be made a second time.",
    refuse: createInMassLoss,
  },
];

/** Throws the error of the first check that refuses. */
export async function ensureCreatable(context: ReconcileContext): Promise<void> {
  refuse((await firstRefusal(mayCreate, { when: "Nothing was found." }, context, undefined))?.error);
}
