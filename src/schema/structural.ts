import * as z from "zod";
import { membersIn, ownTraits, type Rule, traitsOf } from "./traits.ts";

export type JSONSchema = { [member: string]: unknown; properties?: Record<string, JSONSchema>; items?: JSONSchema };

/**
 * The structural OpenAPI schema of a zod object, with the CEL rules of its fields. The API server refuses some of what
 * zod writes, so the code below removes or rewrites it.
 */
export function structural(schema: z.ZodObject): JSONSchema {
  const json = z.toJSONSchema(schema, {
    target: "openapi-3.0",
    io: "input",
    override: ({ zodSchema, jsonSchema }) => decorate(zodSchema as unknown as z.ZodType, jsonSchema as JSONSchema),
  });
  delete json.$schema;
  return json as JSONSchema;
}

function decorate(schema: z.ZodType, json: JSONSchema): void {
  const rules = ownTraits(schema).rules ?? [];
  const all = schema instanceof z.ZodObject ? [...rules, ...immutability(schema)] : rules;
  if (all.length > 0) json["x-kubernetes-validations"] = all.map(({ holds: _, ...rule }) => rule);
  if (rules.some(({ rule }) => rule.startsWith("self.matches("))) {
    // The rule says the same as the pattern, in words. With a format, CEL would not see the value as a string.
    delete json["pattern"];
    delete json["format"];
  }
  keepUnknown(schema, json);
  if (json["minimum"] === Number.MIN_SAFE_INTEGER) delete json["minimum"];
  if (json["maximum"] === Number.MAX_SAFE_INTEGER) delete json["maximum"];
  if (json["type"] === "integer") json["format"] = "int64";
}

/** A map of anything. Without this mark the API server would drop its members, since no schema describes them. */
function keepUnknown(schema: z.ZodType, json: JSONSchema): void {
  if (!(schema instanceof z.ZodRecord && schema.valueType instanceof z.ZodUnknown)) return;
  delete json["additionalProperties"];
  json["x-kubernetes-preserve-unknown-fields"] = true;
}

/**
 * Immutability is a rule of the surrounding object. A rule on the field itself is not evaluated when an optional field
 * is added or removed.
 */
function immutability(schema: z.ZodObject): Rule[] {
  return membersIn(schema)
    .filter(([, member]) => traitsOf(member).immutable)
    .map(([field]) => ({
      rule: `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`,
      message: `\`${field}\` is immutable: the service takes it on create only. Create a new object instead`,
      fieldPath: `.${field}`,
      reason: "FieldValueForbidden" as const,
      holds: () => true,
    }));
}
