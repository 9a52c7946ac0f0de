import * as z from "zod";
import { membersIn, traitsOf, unwrap } from "../traits.ts";
import { sentAs } from "./names.ts";

type Spec = Readonly<Record<string, unknown>>;

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

const fieldsOf = (schema: z.ZodObject, spec: Spec): [string, z.ZodType][] =>
  membersIn(schema).filter(([field]) => isSet(spec[field]));

/**
 * The entries of `status.appliedFields` for a spec that was sent. With them, a field that is later removed from the
 * spec is also removed from the remote. `field`; `field.member` for each hidden member; `field/key` for each entry of a
 * shared list.
 */
export function appliedPaths(schema: z.ZodObject, spec: Spec): string[] {
  return fieldsOf(schema, spec).flatMap(([field, member]) => [
    field,
    ...hiddenMembers(member, spec[field]).map((name) => `${field}.${name}`),
    ...entryKeys(member, spec[field]).map((key) => `${field}/${key}`),
  ]);
}

/** The keys of the entries that an object has added to a shared list. */
export const appliedEntries = (field: string, applied: readonly string[]): string[] => below(`${field}/`, applied);

/** The paths without those of hidden members. */
export const withoutHidden = (applied: readonly string[]): string[] => applied.filter((path) => !path.includes("."));

/** The fields to which the paths belong. */
export const fieldsIn = (applied: readonly string[]): string[] => [
  ...new Set(applied.map((path) => path.replace(/[./].*/s, ""))),
];

/** Whether a hidden member was sent before and is no longer in the spec. */
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

/**
 * Optional members of which no answer shows whether they came from us: secrets, and members that have a default of the
 * service.
 */
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
