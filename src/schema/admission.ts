import * as z from "zod";
import { membersIn, ownTraits, type Rule, unwrap } from "./traits.ts";

/** Something that the API server refuses in a new object. */
export interface Refusal {
  /** As in `target.logs[0]`; empty for the value itself. */
  path: string;
  message: string;
}

/**
 * What the API server would refuse of this value: by the schema, and by the rules of all its parts. Rules about changes
 * are not asked, since the value is new. `rules`: further rules of the value itself, as those of a whole spec.
 */
export function refusalsOf(schema: z.ZodType, value: unknown, rules: readonly Rule[] = []): Refusal[] {
  const issues = schema.safeParse(value, { reportInput: true }).error?.issues.filter(isServers) ?? [];
  if (issues.length > 0)
    return issues.map(({ path, message }) => ({ path: textOf(path), message: message.toLowerCase() }));
  return [...brokenRules(rules, value, ""), ...brokenIn(schema, value, "")];
}

/** The API server counts characters, where JavaScript counts units of UTF-16. */
const isServers = (issue: z.core.$ZodIssue): boolean =>
  !(issue.code === "too_big" && typeof issue.input === "string" && [...issue.input].length <= Number(issue.maximum));

const textOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? String(key) : `${text}.${String(key)}`;
  }, "");

/** The schema bounds how deep this goes: what it does not describe is not entered. */
function brokenIn(schema: z.ZodType, value: unknown, path: string): Refusal[] {
  if (value === undefined) return [];
  const inner = unwrap(schema);
  return [...brokenRules(ownTraits(inner).rules ?? [], value, path), ...brokenBelow(inner, value, path)];
}

function brokenBelow(schema: z.ZodType, value: unknown, path: string): Refusal[] {
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.flatMap((item, index) => brokenIn(schema.element as z.ZodType, item, `${path}[${index}]`));
  const below = (name: string) => (path === "" ? name : `${path}.${name}`);
  if (schema instanceof z.ZodRecord)
    return Object.entries(value as object).flatMap(([key, one]) =>
      brokenIn(schema.valueType as z.ZodType, one, below(key)),
    );
  if (!(schema instanceof z.ZodObject)) return [];
  const members = value as Readonly<Record<string, unknown>>;
  return membersIn(schema).flatMap(([name, member]) => brokenIn(member, members[name], below(name)));
}

const brokenRules = (rules: readonly Rule[], value: unknown, path: string): Refusal[] =>
  rules
    .filter(({ holds }) => !holds(value as never))
    .map(({ message, fieldPath = "" }) => ({ path: `${path}${fieldPath}`.replace(/^\./, ""), message }));
