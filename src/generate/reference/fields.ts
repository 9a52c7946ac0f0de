import * as z from "zod";
import { type JSONSchema, structural } from "../../schema/structural.ts";
import { membersIn, type Traits, traitsOf, unwrap } from "../../schema/traits.ts";
import { code, codes } from "./markdown.ts";

/** A field as it is written in YAML. */
export interface Field {
  /** Path with dots, and `[]` after lists. */
  path: string;
  type: string;
  /** The rules for its value, each as a text in Markdown. */
  rules: string[];
  /** Kinds that the field can refer to. */
  refersTo: readonly string[];
  meaning: string;
}

interface FieldNode {
  path: string;
  schema: z.ZodType;
  json: JSONSchema;
  required: boolean;
  /** Whether the value is a part of an encoded member, so that the request has no member for this field alone. */
  reshaped?: boolean;
}

/** All fields of an object; nested ones follow their parent. `known` are the kinds that a reference can name. */
export function fieldsOf(object: z.ZodObject, known: readonly string[] = []): Field[] {
  return members(object, structural(object), "").flatMap((node) => described(node, known));
}

function described(node: FieldNode, known: readonly string[]): Field[] {
  const { path, schema, json } = node;
  const reshaped = node.reshaped === true || traitsOf(schema).encode !== undefined;
  const field = {
    path: json.items ? `${path}[]` : path,
    type: typeOf(schema, json),
    rules: rulesOf(node, known),
    refersTo: traitsOf(schema).reference?.kinds ?? [],
    meaning: String(json["description"] ?? ""),
  };
  return [field, ...nested(schema, json, path).flatMap((inner) => described({ ...inner, reshaped }, known))];
}

function nested(schema: z.ZodType, json: JSONSchema, path: string): FieldNode[] {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject) return members(inner, json, `${path}.`);
  if (inner instanceof z.ZodArray && json.items) return nested(inner.element as z.ZodType, json.items, `${path}[]`);
  return [];
}

function members(object: z.ZodObject, json: JSONSchema, prefix: string): FieldNode[] {
  const required = (json["required"] ?? []) as string[];
  return membersIn(object).map(([name, schema]) => ({
    path: `${prefix}${name}`,
    schema: schema as z.ZodType,
    json: json.properties?.[name] ?? {},
    required: required.includes(name),
  }));
}

function typeOf(schema: z.ZodType, json: JSONSchema): string {
  const one = specialType(traitsOf(schema));
  if (json.items) return `list of ${one ?? plainType(json.items)}s`;
  return one ?? plainType(json);
}

/** The type in words where the JSON type does not say what the field is. */
function specialType({ reference, secret, configMap, secretName }: Traits): string | undefined {
  if (reference) return "reference";
  if (secret) return "key of a Secret";
  if (configMap) return "key of a ConfigMap";
  return secretName ? "name of a Secret" : undefined;
}

function plainType(json: JSONSchema): string {
  if (json["x-kubernetes-preserve-unknown-fields"]) return "map of anything";
  const values = json["additionalProperties"] as JSONSchema | undefined;
  return values ? `map of ${plainType(values)}s` : String(json["type"]);
}

function rulesOf({ schema, json, required, reshaped }: FieldNode, known: readonly string[]): string[] {
  const traits = traitsOf(schema);
  const value = json["default"];
  return [
    required ? "required" : "",
    value === undefined ? "" : `default ${code(String(value))}`,
    traits.immutable ? "immutable" : "",
    traits.createOnly || traits.secretName ? "a change replaces the resource" : "",
    ...limits(json),
    traits.sends && !reshaped ? `sent as ${code(traits.sends)}` : "",
    ...wiring(traits, known),
  ].filter(Boolean);
}

/** Longer patterns are left out, because the error message of the API server is easier to read. */
const PATTERN_CHARACTERS = 30;

function limits(json: JSONSchema): string[] {
  const checks = checksOf(json);
  const inBytes = checks.some((check) => check.includes(" bytes "));
  const pattern = json["pattern"] as string | undefined;
  return [
    Array.isArray(json["enum"]) ? choice(json["enum"]) : "",
    inBytes ? "" : range(json["minLength"], json["maxLength"], "characters"),
    range(json["minItems"], json["maxItems"], "items"),
    range(undefined, json["maxProperties"], "entries"),
    range(json["minimum"], json["maximum"], ""),
    pattern && pattern.length <= PATTERN_CHARACTERS ? `matches ${code(pattern)}` : "",
    ...checks,
    // Plain values in a list have no row of their own.
    ...(json.items && !json.items.properties ? limits(json.items).map((limit) => `each ${limit}`) : []),
  ].filter(Boolean);
}

const choice = (values: readonly unknown[]): string =>
  values.length === 1 ? `only ${code(String(values[0]))}` : `one of ${codes(values.map(String))}`;

function range(from: unknown, to: unknown, what: string): string {
  const text =
    from === undefined
      ? to !== undefined && `at most ${to}`
      : to === undefined
        ? `at least ${from}`
        : `${from} to ${to}`;
  return text ? `${text} ${what}`.trim() : "";
}

/** The messages of CEL rules, as the API server would answer them. Immutability has a word of its own instead. */
function checksOf(json: JSONSchema): string[] {
  const rules = (json["x-kubernetes-validations"] ?? []) as { message: string; reason?: string }[];
  return rules
    .filter(({ reason }) => reason !== "FieldValueForbidden")
    .map(({ message }) => message.replace(/^must (be )?/, ""));
}

function wiring({ reference, secret, configMap, secretName }: Traits, known: readonly string[]): string[] {
  return [
    secret ? "read when it is sent, never shown or compared" : "",
    configMap ? "read when it is sent" : "",
    ...Object.entries(secretName?.members ?? {}).map(
      ([member, { key }]) => `key ${code(key)} is sent as ${code(member)}`,
    ),
    ...(reference ? unmanaged(reference.kinds, known) : []),
  ];
}

/** Says that resources of kinds that this version does not have can only be referred to by id. */
function unmanaged(kinds: readonly string[], known: readonly string[]): string[] {
  const missing = kinds.filter((kind) => !known.includes(kind));
  return missing.length === 0 ? [] : [`by \`id\` only for ${codes(missing)}: this version has no such kind`];
}
