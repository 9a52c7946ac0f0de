import type { Kind } from "../../schema/define.ts";
import type { Traits } from "../../schema/traits.ts";
import { type Difference, differences, membersOf } from "../../schema/wire/compare.ts";
import { code, codes } from "./markdown.ts";

/** What happens in the account when spec fields that were set are removed from the spec. */
export function fieldRemovals(kind: Kind, alwaysSet: readonly string[]): [fields: string, effect: string][] {
  return [...membersOf(kind.spec)].flatMap(([member, { fields, traits }]): [string, string][] => {
    const optional = fields.filter((field) => !alwaysSet.includes(field));
    if (optional.length === 0) return [];
    // Any value will do: the request that follows the removal does not depend on it.
    const [difference] = differences(kind.spec, {}, { [member]: "set" }, fields);
    return [[codes(optional), difference ? effectOf(kind, traits, difference) : "Left as it is."]];
  });
}

function effectOf({ modules }: Kind, { immutable }: Traits, { how, member, value, fields }: Difference): string {
  if (how === "frozen") return immutable ? "Refused at admission: immutable." : "Replaced by a resource without it.";
  if (how === "remove") return `Removed by ${code(`DELETE ${modules[member]?.path}`)}.`;
  if (isSwitchedOff(value)) return "Switched off: sent with `enabled: false`, its other settings stay.";
  const sent = `Cleared: ${code(`${member}: ${JSON.stringify(value)}`)} is sent`;
  return fields.length > 1 ? `${sent} when none is left.` : `${sent}.`;
}

const isSwitchedOff = (value: unknown): boolean =>
  typeof value === "object" && value !== null && (value as { enabled?: unknown }).enabled === false;
