import * as z from "zod";
import type { Answer } from "../define.ts";
import { memoize } from "../memoize.ts";
import { membersIn, type Traits, traitsOf, unwrap } from "../traits.ts";
import { returnedAs, sentAs } from "./names.ts";
import { referencesIn } from "./needs.ts";

type Normalize = NonNullable<Traits["normalize"]>;

const asIs: Normalize = (value) => value;

/**
 * How to normalize a list of references before a comparison: as its field says. References inside of other objects are
 * compared as they are.
 */
const normalizeOf = (schema: z.ZodType): Normalize => {
  const { reference, normalize = asIs } = traitsOf(schema);
  return reference ? normalize : asIs;
};

/** Free texts and maps, such as descriptions and labels, hold no references, even if a value looks like an id. */
function isOpaque(schema: z.ZodType): boolean {
  const inner = unwrap(schema);
  return inner instanceof z.ZodString || inner instanceof z.ZodRecord;
}

/** The member of an answer that has the references of this field. */
const answeredAs = ([field, member]: [string, z.ZodType]): string => returnedAs(field, member) || sentAs(field, member);

/** For each member of an answer: the normalizers of all fields that can put a reference there. */
const normalizersByMember = memoize((schema: z.ZodObject): ReadonlyMap<string, readonly Normalize[]> => {
  const fields = membersIn(schema);
  return new Map(
    [...Map.groupBy(fields, answeredAs)].map(([name, group]) => [
      name,
      group.flatMap(([, member]) => (isOpaque(member) ? [] : [normalizeOf(member)])),
    ]),
  );
});

/**
 * The values in an answer that may refer to other remotes: ids, and other values that references send, such as
 * addresses. A disabled module refers to nothing. Members that the schema does not know are searched too.
 */
export const referencedValues = (schema: z.ZodObject, answer: Answer): ReadonlySet<string> => readerOf(schema)(answer);

const readerOf = memoize((schema: z.ZodObject) => memoize((answer: Answer) => read(schema, answer)));

function read(schema: z.ZodObject, { id: _, ...members }: Answer): ReadonlySet<string> {
  const known = normalizersByMember(schema);
  const values = Object.entries(members).flatMap(([member, value]) =>
    isSwitchedOff(value) ? [] : (known.get(member) ?? [asIs]).flatMap((normalize) => stringsIn(normalize(value))),
  );
  return new Set(values);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isSwitchedOff = (value: unknown): boolean => isObject(value) && value["enabled"] === false;

/** All strings at any depth, with the names of members: a map of weights has ids as names. */
function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  return isObject(value) ? Object.entries(value).flatMap(([name, one]) => [name, ...stringsIn(one)]) : [];
}

/** Fields of this schema that can refer to objects of `kind`; without `kind`, to any object. */
export const fieldsReferringTo = (schema: z.ZodObject, kind?: string): [field: string, member: z.ZodType][] =>
  membersIn(schema).filter(([, member]) =>
    referencesIn(member).some(({ kinds }) => kind === undefined || kinds.includes(kind)),
  );

/** Members of an answer that can refer to objects of a kind. */
export const membersReferringTo = (schema: z.ZodObject, kind: string): string[] => [
  ...new Set(fieldsReferringTo(schema, kind).map(answeredAs)),
];

/** Whether remotes of this schema would be open to more people if a remote of this kind, which they use, were gone. */
export const isExposedWithout = (schema: z.ZodObject, kind: string): boolean =>
  referencesIn(schema).some(({ kinds, exposes }) => exposes === true && kinds.includes(kind));

/** The values that `referencedValues` returns for a remote that refers to an object of this kind with this status. */
export function valuesReferencing(
  schema: z.ZodObject,
  { kind, status }: { kind: string; status: Readonly<Record<string, unknown>> },
): string[] {
  return (Object.values(schema.shape) as z.ZodType[]).flatMap((member) => {
    const references = referencesIn(member).filter(({ kinds }) => kinds.includes(kind));
    const values = references.map(({ statusField }) => status[statusField]).filter((value) => value !== undefined);
    return values.length > 0 ? stringsIn(normalizeOf(member)(values)) : [];
  });
}
