import fc, { type Arbitrary } from "fast-check";
import * as z from "zod";
import { traitsOf, unwrap } from "../traits.ts";

type Spec = Record<string, unknown>;

/** Specs that the CRD of this schema would accept, with its defaults filled in as the API server does. */
export const specs = (schema: z.ZodObject): Arbitrary<Spec> => object(schema) as Arbitrary<Spec>;

/** Values of a field; `undefined` where it may be unset. */
function valuesOf(schema: z.ZodType): Arbitrary<unknown> {
  const { reference } = traitsOf(schema);
  const inner = unwrap(schema);
  if (schema instanceof z.ZodOptional) return fc.option(valuesOf(unwrap(schema) as z.ZodType), { nil: undefined });
  if (inner instanceof z.ZodArray) {
    const item = reference ? target(reference.kinds) : valuesOf(inner.element as z.ZodType);
    return fc.array(item, { minLength: minimum(inner), maxLength: 4 });
  }
  if (reference) return target(reference.kinds);
  if (inner instanceof z.ZodObject) return object(inner);
  if (inner instanceof z.ZodRecord) return record(inner);
  return scalar(inner);
}

function scalar(schema: z.ZodType): Arbitrary<unknown> {
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...schema.options);
  if (schema instanceof z.ZodLiteral) return fc.constantFrom(...schema.values);
  if (schema instanceof z.ZodBoolean) return fc.boolean();
  if (schema instanceof z.ZodNumber) return fc.integer({ min: schema.minValue ?? 0, max: schema.maxValue ?? 10_000 });
  if (schema instanceof z.ZodString) return text(schema);
  throw new TypeError(`no values for ${schema.constructor.name}`);
}

function text(schema: z.ZodString): Arbitrary<string> {
  const pattern = patternOf(schema);
  const some = pattern
    ? fc.stringMatching(pattern, { size: "xsmall" })
    : fc.string({ minLength: schema.minLength ?? 0, maxLength: 12 });
  return some.filter((value) => schema.safeParse(value).success);
}

function patternOf(schema: z.ZodString): RegExp | undefined {
  for (const check of schema._zod.def.checks ?? []) {
    const { pattern } = check._zod.def as { pattern?: RegExp };
    if (pattern) return pattern;
  }
  return undefined;
}

/** An object that meets a rule of the form `[has(a), has(b)]...size() == 1` has exactly one member. */
function object(schema: z.ZodObject): Arbitrary<unknown> {
  const members = Object.entries(schema.shape) as [string, z.ZodType][];
  const exclusive = traitsOf(schema).rules?.some(({ rule }) => rule.endsWith(".size() == 1"));
  if (exclusive) {
    const ways = members.map(([name, member]) => valuesOf(unwrap(member)).map((value) => ({ [name]: value })));
    return fc.oneof(...ways);
  }
  const all = fc.record(Object.fromEntries(members.map(([name, member]) => [name, valuesOf(member)])));
  return all.map((value) => Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)));
}

function record(schema: z.ZodRecord): Arbitrary<unknown> {
  const value =
    schema.valueType instanceof z.ZodUnknown ? fc.jsonValue({ maxDepth: 1 }) : valuesOf(schema.valueType as z.ZodType);
  return fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9_-]{0,6}$/), value, { maxKeys: 3, noNullPrototype: true });
}

const remoteID = fc.stringMatching(/^x_[a-z0-9]{4,8}$/);
const objectName = fc.stringMatching(/^[a-z][a-z0-9-]{0,5}[a-z0-9]$/);

function target(kinds: readonly string[]): Arbitrary<unknown> {
  const ofKind = fc.record({ kind: fc.constantFrom(...kinds), name: objectName });
  const named = kinds.length > 1 ? ofKind : fc.record({ name: objectName });
  return fc.oneof(fc.record({ id: remoteID }), named);
}

const minimum = (schema: z.ZodArray): number => (schema._zod.bag as { minimum?: number }).minimum ?? 0;

/** Values of a field that each mean something else than this one. Secrets have none: they are never compared. */
export function otherValues(schema: z.ZodType, value: unknown): unknown[] {
  const { secret, reference } = traitsOf(schema);
  const inner = unwrap(schema);
  if (secret || inner instanceof z.ZodLiteral) return [];
  if (inner instanceof z.ZodArray) return otherLists(inner, value as unknown[], reference !== undefined);
  if (reference) return [{ id: "x_other" }];
  if (inner instanceof z.ZodObject) return otherObjects(inner, value as Spec);
  if (inner instanceof z.ZodRecord) return [{ ...(value as Spec), zz_other: "other" }];
  if (inner instanceof z.ZodEnum) return inner.options.filter((option) => option !== value);
  if (typeof value === "boolean") return [!value];
  if (typeof value === "number") return [value + 1];
  return [`${value}x`];
}

function otherLists(schema: z.ZodArray, list: unknown[], references: boolean): unknown[] {
  const longer = references ? [[...list, { id: "x_other" }]] : [];
  const [first, ...rest] = list;
  if (first === undefined) return longer;
  const changed = references ? [] : otherValues(schema.element as z.ZodType, first).map((item) => [item, ...rest]);
  return [...longer, ...changed, rest];
}

const otherObjects = (schema: z.ZodObject, value: Spec): Spec[] =>
  (Object.entries(schema.shape) as [string, z.ZodType][]).flatMap(([name, member]) =>
    value[name] === undefined ? [] : otherValues(member, value[name]).map((other) => ({ ...value, [name]: other })),
  );
