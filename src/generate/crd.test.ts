import { describe, expect, it } from "vitest";
import { customResources } from "../kinds/index.ts";
import { FINALIZER, GROUP } from "../schema/contract.ts";
import type { JSONSchema } from "../schema/structural.ts";
import { crdOf } from "./crd.ts";

interface CRD {
  metadata: { name: string; finalizers?: string[] };
  spec: {
    names: Record<"kind" | "plural" | "singular", string> & Record<"shortNames" | "categories", string[]>;
    scope: string;
    versions: {
      name: string;
      served: boolean;
      storage: boolean;
      subresources: object;
      schema: { openAPIV3Schema: JSONSchema };
      additionalPrinterColumns: { name: string; jsonPath: string; type: string; priority?: number }[];
      selectableFields?: { jsonPath: string }[];
    }[];
  };
}

interface Visited {
  path: string;
  schema: JSONSchema;
  inList: boolean;
}

/** A schema and all schemas in it. */
function* visit(schema: JSONSchema, path = "", inList = false): Generator<Visited> {
  yield { path, schema, inList };
  for (const [name, member] of Object.entries(schema.properties ?? {})) yield* visit(member, `${path}.${name}`, inList);
  if (schema.items) yield* visit(schema.items, `${path}[]`, true);
  const values = schema["additionalProperties"];
  if (typeof values === "object" && values !== null) yield* visit(values as JSONSchema, `${path}{}`, true);
}

/** The members of JSON Schema that a structural schema may have. */
const structural = new Set([
  ...["type", "format", "description", "default", "enum", "nullable", "properties", "required", "items"],
  ...["additionalProperties", "minimum", "maximum", "minLength", "maxLength", "pattern", "minItems", "maxItems"],
  ...[
    "minProperties",
    "maxProperties",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "allOf",
    "anyOf",
    "oneOf",
  ],
  ...["x-kubernetes-validations", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-list-type"],
  ...["x-kubernetes-list-map-keys", "x-kubernetes-map-type", "x-kubernetes-int-or-string"],
]);

const crds = customResources.map((kind) => [kind.kind, crdOf(kind) as CRD] as const);

const rulesOf = (schema: JSONSchema) =>
  (schema["x-kubernetes-validations"] ?? []) as { rule: string; message: string; fieldPath?: string }[];

/** The schema that a simple JSON path leads to. */
function at(schema: JSONSchema, jsonPath: string): JSONSchema | undefined {
  const names = jsonPath.replace(/\[.*$/, "").split(".").filter(Boolean);
  return names.reduce<JSONSchema | undefined>((found, name) => found?.properties?.[name], schema);
}

describe.each(crds)("the CRD of %s", (kind, { metadata, spec }) => {
  const [version] = spec.versions;
  const schema = version?.schema.openAPIV3Schema ?? {};
  const all = [...visit(schema)];
  // the API server has its own schema for metadata
  const ours = all.filter(({ path }) => path.startsWith(".spec") || path.startsWith(".status"));
  const where = (wrong: (visited: Visited) => boolean) => ours.filter(wrong).map(({ path }) => path);

  it("has the name that the API server requires", () => {
    const { names } = spec;
    expect(metadata.name).toBe(`${names.plural}.${GROUP}`);
    expect(names).toMatchObject({ kind, singular: kind.toLowerCase(), plural: names.plural.toLowerCase() });
    expect(names.categories).toContain("tunnelgateway");
    expect(spec.scope).toBe("Namespaced");
    expect(metadata.finalizers ?? []).not.toContain(FINALIZER);
  });

  it("has one version, with a status subresource", () => {
    expect(spec.versions).toHaveLength(1);
    expect(version).toMatchObject({ name: "v1", served: true, storage: true, subresources: { status: {} } });
  });

  it("has no member that a structural schema must not have", () => {
    expect(where(({ schema: one }) => Object.keys(one).some((word) => !structural.has(word)))).toEqual([]);
  });

  it("has a type for each member, except for those with unknown fields", () => {
    expect(where(({ schema: one }) => !one["type"] && !one["x-kubernetes-preserve-unknown-fields"])).toEqual([]);
  });

  it("has additionalProperties only without properties, and only as a schema", () => {
    expect(
      where(({ schema: one }) => one["additionalProperties"] !== undefined && one.properties !== undefined),
    ).toEqual([]);
    expect(where(({ schema: one }) => typeof one["additionalProperties"] === "boolean")).toEqual([]);
  });

  it("has no default inside of a list or map", () => {
    expect(where(({ schema: one, inList }) => inList && "default" in one)).toEqual([]);
  });

  it("is applied as one whole wherever it can be empty, and has no default in there", () => {
    const inSpec = all.filter(({ path, inList }) => path.startsWith(".spec.") && !inList);
    const open = inSpec.filter(({ schema: one }) => one["type"] === "object" && !one["required"]);
    const within = inSpec.filter(({ path }) => open.some((outer) => path.startsWith(`${outer.path}.`)));
    const outermost = open.filter((one) => !within.includes(one));
    expect(outermost.filter(({ schema: one }) => one["x-kubernetes-map-type"] !== "atomic")).toEqual([]);
    expect(within.filter(({ schema: one }) => "default" in one)).toEqual([]);
  });

  it("has a status that is one whole for server-side apply", () => {
    expect(at(schema, ".status")?.["x-kubernetes-map-type"]).toBe("atomic");
  });

  it("requires no member that has a default", () => {
    const required = ours.flatMap(({ path, schema: one }) =>
      ((one["required"] ?? []) as string[])
        .filter((name) => one.properties?.[name] && "default" in one.properties[name])
        .map((name) => `${path}.${name}`),
    );
    expect(required).toEqual([]);
  });

  it("describes every member", () => {
    const named = all.filter(({ path }) => path && path !== ".metadata" && !/(\[\]|\{\})$/.test(path));
    expect(named.filter(({ schema: one }) => !one["description"]).map(({ path }) => path)).toEqual([]);
    expect(schema["description"]).toMatch(/\.$/);
  });

  it("limits every list, map and text of the spec, so that the cost of its rules is limited", () => {
    const inSpec = ours.filter(({ path }) => path.startsWith(".spec"));
    const unbounded = inSpec.filter(({ schema: one }) => {
      if (one["type"] === "array") return one["maxItems"] === undefined;
      if (one["type"] === "object" && one["additionalProperties"]) return one["maxProperties"] === undefined;
      return (
        one["type"] === "string" &&
        one["maxLength"] === undefined &&
        one["enum"] === undefined &&
        one["format"] === undefined
      );
    });
    expect(unbounded.map(({ path }) => path)).toEqual([]);
  });

  it("refuses no text with a bare regular expression", () => {
    expect(where(({ path, schema: one }) => path.startsWith(".spec") && "pattern" in one)).toEqual([]);
  });

  const rules = ours.flatMap(({ path, schema: one }) => rulesOf(one).map((rule) => ({ ...rule, path, schema: one })));

  it("has rules with messages that say what must be, each for a field", () => {
    expect(rules.filter(({ message }) => !/^(must|(`\w+` )?is immutable)/.test(message))).toEqual([]);
    expect(rules.filter(({ fieldPath, schema: one }) => fieldPath && !at(one, fieldPath))).toEqual([]);
  });

  it("has rules about members that exist", () => {
    const unknown = rules.flatMap(({ rule, schema: one, path }) =>
      [...rule.matchAll(/\b(?:self|oldSelf)\.(\w+)(\(?)/g)]
        .filter(([, name = "", call]) => !call && !one.properties?.[name])
        .map(([member]) => `${path}: ${member}`),
    );
    expect(unknown).toEqual([]);
  });

  it("has columns and selectable fields that exist", () => {
    const paths = [
      ...(version?.additionalPrinterColumns ?? []).map(({ jsonPath }) => jsonPath),
      ...(version?.selectableFields ?? []).map(({ jsonPath }) => jsonPath),
    ];
    expect(paths.filter((path) => !path.startsWith(".metadata") && !at(schema, path))).toEqual([]);
    const columns = version?.additionalPrinterColumns.map(({ name }) => name) ?? [];
    expect(new Set(columns).size).toBe(columns.length);
  });
});

const managed = crds.filter(
  ([, { spec }]) => spec.versions[0]?.schema.openAPIV3Schema.properties?.["spec"]?.properties?.["managementPolicy"],
);

it("refuses another adopt.id for an object that has its remote, in each kind that adopts", () => {
  const ruled = crds.filter(([, { spec }]) => rulesOf(spec.versions[0]?.schema.openAPIV3Schema ?? {}).length > 0);
  const adopting = customResources.filter(({ spec }) => "adopt" in spec.shape).map(({ kind }) => kind);
  expect(ruled.map(([kind]) => kind)).toEqual(adopting);
  expect(adopting).toContain("IPPolicy");
  expect(adopting).not.toContain("HTTPSEdgeRoute");
});

describe.each(managed)("an object of %s that nobody has looked at", (_, { spec }) => {
  it("is not ready by default", () => {
    const status = spec.versions[0]?.schema.openAPIV3Schema.properties?.["status"];
    expect(status?.["default"]).toMatchObject({
      observedGeneration: -1,
      conditions: [{ type: "Ready", status: "Unknown", reason: "Pending" }],
    });
    const conditions = status?.properties?.["conditions"];
    expect(conditions).toMatchObject({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] });
  });
});
