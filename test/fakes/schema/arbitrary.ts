import fc, { type Arbitrary } from "fast-check";
import * as z from "zod";
import { flawIn } from "../../../src/gateway/bounds.ts";
import { kinds } from "../../../src/kinds/index.ts";
import type { Kind } from "../../../src/schema/define.ts";
import { mark, traitsOf, unwrap } from "../../../src/schema/traits.ts";

type Spec = Record<string, unknown>;

/** Specs that the CRD of this kind would accept, with its defaults filled in as the API server does. */
export const specs = ({ spec, rules }: Pick<Kind, "spec" | "rules">): Arbitrary<Spec> =>
  object(mark(spec, { rules })) as Arbitrary<Spec>;

/** Values of a field; `undefined` where it may be unset. */
function valuesOf(schema: z.ZodType): Arbitrary<unknown> {
  const { reference, rules = [] } = traitsOf(schema);
  const inner = unwrap(schema);
  if (schema instanceof z.ZodOptional) return fc.option(valuesOf(unwrap(schema) as z.ZodType), { nil: undefined });
  if (inner instanceof z.ZodArray) {
    const item = reference ? target(reference.kinds) : valuesOf(inner.element as z.ZodType);
    const lists = fc.array(item, { minLength: minimum(inner), maxLength: 4 });
    return lists.filter((list) => rules.every(({ holds }) => holds(list as never)));
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
  if (schema instanceof z.ZodISODateTime) return instants;
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

/** Generates objects that satisfy the rules about which members are present. */
function object(schema: z.ZodObject): Arbitrary<unknown> {
  const rules = (traitsOf(schema).rules ?? []).map(({ rule }) => rule);
  const oneOf = rules.find((rule) => rule.endsWith(".size() == 1") || /^has\([^ ]+ != has\([^ ]+$/.test(rule));
  const alternatives = oneOf ? namesIn(oneOf) : [];
  const excluded = rules.filter((rule) => /^!\(has\([^ ]+ && has\([^ ]+$/.test(rule)).map(namesIn);

  const members = Object.entries(schema.shape) as [string, z.ZodType][];
  const free = members.filter(([name]) => !alternatives.includes(name));
  const chosen = members
    .filter(([name]) => alternatives.includes(name))
    .map(([name, member]) => valuesOf(unwrap(member)).map((value): Spec => ({ [name]: value })));
  const others = fc.record(Object.fromEntries(free.map(([name, member]) => [name, valuesOf(member)])));
  const all = fc.tuple(chosen.length > 0 ? fc.oneof(...chosen) : fc.constant({}), others);
  return all.map(([one, rest]) => withoutUnset({ ...one, ...rest }, excluded));
}

const namesIn = (rule: string): string[] => [...rule.matchAll(/has\(self\.(\w+)\)/g)].map(([, name = ""]) => name);

function withoutUnset(value: Spec, excluded: readonly string[][]): Spec {
  const dropped = excluded.flatMap(([first = "", second = ""]) => (value[first] === undefined ? [] : [second]));
  return Object.fromEntries(
    Object.entries(value).filter(([name, one]) => one !== undefined && !dropped.includes(name)),
  );
}

/** A number that JavaScript cannot hold is refused before anything is sent. */
const anything = fc.jsonValue({ maxDepth: 1 }).filter((value) => flawIn(value) === undefined);

function record(schema: z.ZodRecord): Arbitrary<unknown> {
  const value = schema.valueType instanceof z.ZodUnknown ? anything : valuesOf(schema.valueType as z.ZodType);
  return fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9_-]{0,6}$/), value, { maxKeys: 3, noNullPrototype: true });
}

const instants = fc
  .integer({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0) })
  .map((time) => new Date(time).toISOString().replace(/\.\d+Z$/, "Z"));

const remoteID = (of: string) =>
  fc
    .stringMatching(/^[a-z0-9]{4,8}$/)
    .map((text) => `${kinds.find(({ kind }) => kind === of)?.resource.idPrefix}${text}`);
const objectName = fc.stringMatching(/^[a-z][a-z0-9-]{0,5}[a-z0-9]$/);

function target(names: readonly string[]): Arbitrary<unknown> {
  const ofKind = fc.record({ kind: fc.constantFrom(...names), name: objectName });
  const named = names.length > 1 ? ofKind : fc.record({ name: objectName });
  return fc.oneof(fc.record({ id: fc.constantFrom(...names).chain(remoteID) }), named);
}

const minimum = (schema: z.ZodArray): number => (schema._zod.bag as { minimum?: number }).minimum ?? 0;

/** Values that each change the request. None for Secrets, since they are never compared. */
export function otherValues(schema: z.ZodType, value: unknown): unknown[] {
  const { secret, notInBody, reference } = traitsOf(schema);
  const inner = unwrap(schema);
  if (secret || notInBody || inner instanceof z.ZodLiteral) return [];
  if (inner instanceof z.ZodArray) return otherLists(inner, value as unknown[], reference !== undefined);
  if (reference) return [{ id: "x_other" }];
  if (inner instanceof z.ZodObject) return otherObjects(inner, value as Spec);
  if (inner instanceof z.ZodRecord) return [{ ...(value as Spec), zz_other: "other" }];
  if (inner instanceof z.ZodEnum) return inner.options.filter((option) => option !== value);
  if (typeof value === "boolean") return [!value];
  if (typeof value === "number") return [value + 1];
  if (inner instanceof z.ZodISODateTime) return ["2041-01-01T00:00:00Z"];
  const isPEM = String(value).includes("-----BEGIN");
  return [isPEM ? String(value).replace("-----END", "x-----END") : `x${value}`];
}

function otherLists(schema: z.ZodArray, list: unknown[], references: boolean): unknown[] {
  const longer = references ? [[...list, { id: "x_other" }]] : [];
  const [first, ...rest] = list;
  if (first === undefined) return longer;
  const changed = references ? [] : otherValues(schema.element as z.ZodType, first).map((item) => [item, ...rest]);
  // in most lists, neither repetition nor case matters
  const isRepeated = rest.some((one) => JSON.stringify(one).toLowerCase() === JSON.stringify(first).toLowerCase());
  return isRepeated ? longer : [...longer, ...changed, rest];
}

const otherObjects = (schema: z.ZodObject, value: Spec): Spec[] =>
  (Object.entries(schema.shape) as [string, z.ZodType][]).flatMap(([name, member]) =>
    value[name] === undefined ? [] : otherValues(member, value[name]).map((other) => ({ ...value, [name]: other })),
  );
