import { conditionOf, isObserver, isPaused, isReleased, type ManagedObject } from "../../objects/object.ts";
import type { Block } from "../../plan/blocks.ts";
import type { ComparedField } from "../../plan/comparison.ts";
import type { FieldChange } from "../../plan/field-changes.ts";
import type { PlannedObject } from "../../plan/planner.ts";
import { compare, type Sides } from "../diff/diff.ts";

/**
 * Blocks for objects for which nothing is to be sent although they differ from the account: paused ones, those that only
 * observe, and those whose drift is only reported.
 */
export async function leftBlocks(
  planned: readonly PlannedObject[],
  sides: Omit<Sides, "missing">,
): Promise<Map<PlannedObject, Block>> {
  const blocks = new Map<PlannedObject, Block>();
  for (const one of planned) {
    const why = one.after && reasonOf(one.after);
    if (!one.after || !why) continue;
    // Nothing of an object that only observes is ever sent, so what is missing changes nothing.
    const missing = isObserver(one.after) ? [] : sides.problems;
    const { id, fields } = await compare(one.kind, one.after, { ...sides, missing });
    const differing = fields.filter(({ state }) => state === "differs");
    if (differing.length === 0) continue;
    const { namespace, name } = one.before.metadata;
    const about = { kind: one.kind.kind, namespace, name, ...(id !== undefined && { id }) };
    blocks.set(one, { action: "left", ...about, fields: differing.map(changeOf), requests: [], ...why });
  }
  return blocks;
}

function reasonOf(object: ManagedObject): { reason: string; message: string } | undefined {
  if (isReleased(object)) return { reason: "Released", message: "Another object is to take it over" };
  if (isPaused(object)) return { reason: "Paused", message: "Nothing is sent until the object is resumed" };
  if (isObserver(object)) return { reason: "ObserveOnly", message: "The object only observes" };
  const drifted = conditionOf(object.status, "Drifted");
  return drifted?.status === "True" ? { reason: drifted.reason, message: drifted.message } : undefined;
}

const changeOf = ({ path, spec, account, secret }: ComparedField): FieldChange => ({
  path,
  ...(secret
    ? { secret }
    : { ...(account !== undefined && { old: account }), ...(spec !== undefined && { new: spec }) }),
});
