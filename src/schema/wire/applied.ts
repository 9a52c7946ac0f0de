import * as z from "zod";
import { traitsOf, unwrap } from "../traits.ts";
import { sentAs } from "./names.ts";

type Spec = Readonly<Record<string, unknown>>;

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

const fieldsOf = (schema: z.ZodObject, spec: Spec): [string, z.ZodType][] =>
  (Object.entries(schema.shape) as [string, z.ZodType][]).filter(([field]) => isSet(spec[field]));

/**
 * What of a spec the account has once it was sent, so that a removal is known for one. Fields by their names; besides,
 * `field.member` where the account alone does not show that a member was ours, and `field/key` for each entry of a list
 * that others add to.
 */
export function appliedPaths(schema: z.ZodObject, spec: Spec): string[] {
  return fieldsOf(schema, spec).flatMap(([field, member]) => [
    field,
    ...hiddenMembers(member, spec[field]).map((name) => `${field}.${name}`),
    ...entryKeys(member, spec[field]).map((key) => `${field}/${key}`),
  ]);
}

/** The keys of the entries of a shared list that an object has put in. */
export const appliedEntries = (field: string, applied: readonly string[]): string[] => below(`${field}/`, applied);

/** Without what only tells that something has to be sent once more. */
export const withoutHidden = (applied: readonly string[]): string[] => applied.filter((path) => !path.includes("."));

/** Whether a member that the account does not show to be ours was sent once and is wanted no more. */
export function removesHidden(
  fields: readonly string[],
  schema: z.ZodType,
  wanted: unknown,
  applied: readonly string[],
) {
  const inner = unwrap(schema);
  if (!(inner instanceof z.ZodObject) || !isSet(wanted)) return false;
  const ours = fields.flatMap((field) => below(`${field}.`, applied));
  return ours.some((name) => {
    const member = inner.shape[name] as z.ZodType | undefined;
    return member !== undefined && !isSet((wanted as Spec)[sentAs(name, member)]);
  });
}

const below = (prefix: string, applied: readonly string[]): string[] =>
  applied.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));

/** Secrets come back in no answer, and where the service chooses a value its own cannot be told from ours. */
function hiddenMembers(schema: z.ZodType, value: unknown): string[] {
  const inner = unwrap(schema);
  if (!(inner instanceof z.ZodObject)) return [];
  return fieldsOf(inner, value as Spec)
    .filter(([, member]) => member instanceof z.ZodOptional && isHidden(member))
    .map(([name]) => name);
}

function isHidden(schema: z.ZodType): boolean {
  const { secret, serverDefault } = traitsOf(schema);
  return secret === true || serverDefault === true;
}

function entryKeys(schema: z.ZodType, value: unknown): string[] {
  const { shared } = traitsOf(schema);
  return shared ? (value as Spec[]).map((entry) => String(entry[shared.key])) : [];
}
