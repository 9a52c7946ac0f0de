import { describe, expect, it } from "vitest";
import * as z from "zod";
import { bytes, immutable } from "./fields.ts";
import { structural } from "./structural.ts";
import { mark } from "./traits.ts";

const rulesOf = (schema: z.ZodObject) => structural(schema)["x-kubernetes-validations"] as { rule: string }[];

describe("structural", () => {
  it("has a rule at the object for each immutable field, so that adding and removing it is refused", () => {
    const rules = rulesOf(
      z.object({ domain: immutable(z.string()), region: immutable(z.string()).optional(), other: z.string() }),
    );
    expect(rules).toMatchObject([
      { fieldPath: ".domain", reason: "FieldValueForbidden" },
      { fieldPath: ".region", reason: "FieldValueForbidden" },
    ]);
    for (const { rule } of rules) expect(rule).toMatch(/^has\(self\.(\w+)\) == has\(oldSelf\.\1\) && /);
  });

  it("has the rules of a field at the field, once, whatever wraps it", () => {
    const { properties } = structural(z.object({ text: bytes(9).optional().describe("words") }));
    expect(properties?.["text"]).toEqual({
      type: "string",
      maxLength: 9,
      description: "words",
      "x-kubernetes-validations": [{ rule: "size(bytes(self)) <= 9", message: "must be at most 9 bytes (UTF-8)" }],
    });
  });

  it("has rules of list items at the items", () => {
    const item = mark(z.object({ a: z.string().optional() }), {
      rules: [{ rule: "has(self.a)", message: "must set a", holds: () => true }],
    });
    expect(structural(z.object({ list: z.array(item) })).properties?.["list"]?.items).toMatchObject({
      "x-kubernetes-validations": [{ rule: "has(self.a)" }],
    });
  });

  it("keeps the members of a map of anything", () => {
    const { properties } = structural(z.object({ config: z.record(z.string(), z.unknown()) }));
    expect(properties?.["config"]).toEqual({ type: "object", "x-kubernetes-preserve-unknown-fields": true });
  });

  it("has no bounds that only JavaScript has", () => {
    const { properties } = structural(z.object({ weight: z.int(), share: z.int().min(0).max(10_000) }));
    expect(properties?.["weight"]).toEqual({ type: "integer", format: "int64" });
    expect(properties?.["share"]).toEqual({ type: "integer", format: "int64", minimum: 0, maximum: 10_000 });
  });

  it("does not require what has a default", () => {
    const schema = structural(z.object({ on: z.boolean().default(true), name: z.string() }));
    expect(schema["required"]).toEqual(["name"]);
    expect(schema.properties?.["on"]).toMatchObject({ default: true });
  });
});
