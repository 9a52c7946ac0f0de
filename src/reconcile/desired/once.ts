import type * as z from "zod";
import { valueTwice } from "../../objects/errors/spec.ts";
import type { Answer } from "../../schema/define.ts";
import { membersIn, traitsOf } from "../../schema/traits.ts";
import { needsOf, sentPath } from "../../schema/wire/needs.ts";
import type { Resolved } from "../../schema/wire/request.ts";

interface Entry {
  path: string;
  value: unknown;
  isReference: boolean;
}

/**
 * Throws Blocked when a reference gives a list of the request a value that it has already: from another reference, or
 * from a field that is sent in the same list. A rule of the schema cannot tell, since it knows only names.
 */
export function refuseTwice(schema: z.ZodObject, spec: Answer, references: Resolved): void {
  if (references.size === 0) return;
  const seen = new Map<string, Entry>();
  for (const [field, member] of membersIn(schema)) {
    const { normalize = (list: unknown) => list } = traitsOf(member);
    for (const entry of entriesOf(field, member, spec[field], references)) {
      const list = sentPath(schema, entry.path).replace(/\[\d+\]$/, "");
      const key = JSON.stringify([list, normalize([entry.value])]);
      const before = seen.get(key);
      if (before && (before.isReference || entry.isReference))
        throw valueTwice({ path: before.path, other: entry.path, value: entry.value });
      seen.set(key, entry);
    }
  }
}

function entriesOf(field: string, member: z.ZodType, value: unknown, references: Resolved): Entry[] {
  const isPlain = Array.isArray(value) && value.every((one) => typeof one === "string");
  if (isPlain) return value.map((one, index) => ({ path: `${field}[${index}]`, value: one, isReference: false }));
  return needsOf(member, value, field)
    .filter(({ type, path }) => type === "reference" && path.endsWith("]"))
    .map(({ path }) => ({ path, value: references.get(path), isReference: true }));
}
