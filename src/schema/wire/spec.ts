import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { refusalsOf } from "../admission.ts";
import { defaultOf, membersIn, type ReferenceTrait, traitsOf, unwrap } from "../traits.ts";
import { isUnset, membersOf } from "./compare.ts";
import { sentAs } from "./names.ts";
import type { Body } from "./request.ts";

type Spec = Record<string, unknown>;

/** How a written spec refers to values that it cannot hold itself. */
export interface SpecSources {
  /** The reference to the object that has this value, such as an id or address. Undefined: no object has it. */
  reference: (value: string, trait: ReferenceTrait) => object | undefined;
  /** The Secret and its key for the field with this path. */
  secretKey: (path: string) => { name: string; key: string };
  /** The Secret for a field that uses several keys of one Secret. */
  secretName: (path: string, members: Readonly<Record<string, { key: string }>>) => string;
}

export interface WrittenSpec {
  spec: Spec;
  /** Paths of fields that were left out because no object can have the value in the account. */
  leftOut: string[];
}

/**
 * The spec that leads to this request from `fromAnswer`; the reverse of `toRequest`. Leaves out unset fields, and
 * fields that have the default of the schema.
 */
export function toSpec(schema: z.ZodObject, body: Body, sources: SpecSources): WrittenSpec {
  const leftOut: string[] = [];
  return { spec: fieldsOf(schema, body, { sources, leftOut, path: "" }), leftOut };
}

interface Context {
  sources: SpecSources;
  leftOut: string[];
  path: string;
}

function fieldsOf(schema: z.ZodObject, body: Body, context: Context): Spec {
  const spec: Spec = {};
  for (const [field, member] of membersIn(schema)) {
    const path = context.path ? `${context.path}.${field}` : field;
    const value = fieldOf({ schema, field, member }, body, { ...context, path });
    if (value === undefined || isOmitted(member, value)) continue;
    if (isWellFormed(value) && refusalsOf(member, value).length === 0) spec[field] = value;
    else context.leftOut.push(path);
  }
  return spec;
}

/** Whether all texts can be written in UTF-8. The API server would change half of a surrogate pair. */
function isWellFormed(value: unknown): boolean {
  const open = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one === "string" && /\p{Cs}/u.test(one)) return false;
    if (typeof one === "object" && one !== null) open.push(...Object.keys(one), ...Object.values(one));
  }
  return true;
}

interface FieldIn {
  schema: z.ZodObject;
  field: string;
  member: z.ZodType;
}

function fieldOf({ schema, field, member }: FieldIn, body: Body, context: Context): unknown {
  const { notInBody, secretName, secret, configMap, encode, restore } = traitsOf(member);
  if (notInBody || configMap || (encode && !restore)) return undefined;
  if (secretName) return context.sources.secretName(context.path, secretName.members);
  if (secret) return context.sources.secretKey(context.path);
  const sent = body[sentAs(field, member)];
  const own = Array.isArray(sent) ? shareOf({ schema, field, member }, sent, context) : sent;
  if (own === undefined || own === null) return isOptional(member) ? undefined : emptyOf(member);
  return written(member, restore ? restore(own as never) : own, context);
}

function written(schema: z.ZodType, value: unknown, context: Context): unknown {
  const { reference } = traitsOf(schema);
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item, index) =>
      reference
        ? referenceTo(item, reference, context)
        : written(inner.element as z.ZodType, item, { ...context, path: `${context.path}[${index}]` }),
    );
  }
  if (reference) return referenceTo(value, reference, context);
  if (inner instanceof z.ZodObject && !Array.isArray(value)) return fieldsOf(inner, value as Body, context);
  return value;
}

const referenceTo = (value: unknown, trait: ReferenceTrait, { sources }: Context): object =>
  sources.reference(String(value), trait) ?? { id: value };

/** If a plain field and a reference field feed one list, the values that objects have go to the reference field. */
function shareOf({ schema, field, member }: FieldIn, sent: readonly unknown[], { sources }: Context): unknown[] {
  const others =
    membersOf(schema)
      .get(sentAs(field, member))
      ?.fields.filter((other) => other !== field) ?? [];
  const shared = [member, ...others.map((other) => schema.shape[other] as z.ZodType)].flatMap(
    (one) => traitsOf(one).reference ?? [],
  );
  if (others.length === 0 || shared.length === 0) return [...sent];
  const isObjects = (value: unknown) => shared.some((trait) => sources.reference(String(value), trait) !== undefined);
  const isReference = traitsOf(member).reference !== undefined;
  return sent.filter((value) => isObjects(value) === isReference);
}

/** An optional object is written even if all its fields have their defaults, since its presence has a meaning. */
const isOmitted = (schema: z.ZodType, value: unknown): boolean =>
  isDefault(schema, value) || (isUnset(value) && isOptional(schema) && !(unwrap(schema) instanceof z.ZodObject));

const isOptional = (schema: z.ZodType): boolean => schema instanceof z.ZodOptional;

const isDefault = (schema: z.ZodType, value: unknown): boolean =>
  isDeepStrictEqual(defaultOf(schema) ?? traitsOf(schema).unset?.onCreate ?? null, value);

function emptyOf(schema: z.ZodType): unknown {
  if (schema instanceof z.ZodDefault) return undefined;
  return unwrap(schema) instanceof z.ZodArray ? [] : undefined;
}
