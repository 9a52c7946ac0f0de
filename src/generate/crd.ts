import { CATEGORY, GROUP, OPERATOR_NAME, VERSION } from "../schema/contract.ts";
import type { Column, CustomResource } from "../schema/define.ts";
import { type JSONSchema, structural } from "../schema/structural.ts";
import { mark, type Rule } from "../schema/traits.ts";

/** The CustomResourceDefinition of a kind. */
export function crdOf(kind: CustomResource): object {
  const { plural, shortNames, selectableFields } = kind;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}`, labels: { "app.kubernetes.io/part-of": OPERATOR_NAME } },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        singular: kind.kind.toLowerCase(),
        shortNames,
        categories: [CATEGORY, ...kind.categories],
      },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: kind.columns.map(printerColumn),
          ...(selectableFields.length > 0 && { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
          schema: { openAPIV3Schema: objectSchema(kind) },
        },
      ],
    },
  };
}

const printerColumn = ({ name, jsonPath, type = "string", wide, description }: Column): object => ({
  name,
  jsonPath,
  type,
  ...(wide && { priority: 1 }),
  ...(description && { description }),
});

function objectSchema(kind: CustomResource): JSONSchema {
  const spec = structural(mark(kind.spec, { rules: kind.rules }));
  const status = structural(kind.status);
  const conditions = status.properties?.["conditions"];
  if (conditions)
    Object.assign(conditions, { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] });
  return {
    type: "object",
    description: kind.summary,
    required: ["spec"],
    ...("adopt" in kind.spec.shape && { "x-kubernetes-validations": [adoptedID] }),
    properties: {
      apiVersion: { type: "string", description: "Version of the schema of this object." },
      kind: { type: "string", description: "Kind of this object." },
      metadata: { type: "object" },
      spec: {
        ...withMembers(spec, appliedWhole),
        description: spec["description"] ?? "What the account should have.",
        ...(canBeEmpty(spec) && { default: {} }),
      },
      status: {
        ...status,
        // Only the operator writes the status, and whole. The API server would keep an owner of each field in it, and work
        // them out at each write.
        "x-kubernetes-map-type": "atomic",
        description: status["description"] ?? "What the account has, as the operator saw it last.",
        ...(kind.initialStatus && { default: kind.initialStatus }),
      },
    },
  };
}

/**
 * An object keeps the id that it has adopted: with another id, the first remote would stay changed and without an
 * owner. Before an object has its remote, a wrong id can be corrected.
 */
const adoptedID: Omit<Rule, "holds"> = {
  rule: [
    ...["oldSelf.status", "oldSelf.status.id", "oldSelf.spec.adopt", "oldSelf.spec.adopt.id"],
    ...["self.spec.adopt", "self.spec.adopt.id"],
  ]
    .map((member) => `!has(${member}) || `)
    .concat("self.spec.adopt.id == oldSelf.spec.adopt.id")
    .join(""),
  message: "must stay the id that was adopted: create another object for another resource",
  fieldPath: ".spec.adopt.id",
  reason: "FieldValueForbidden",
};

/** A rule that demands a field refuses an empty object as well as a required field does. */
function canBeEmpty({ required, "x-kubernetes-validations": rules }: JSONSchema): boolean {
  const demands = ((rules ?? []) as Omit<Rule, "holds">[]).some(({ reason }) => reason === "FieldValueRequired");
  return !demands && !(Array.isArray(required) && required.length > 0);
}

/**
 * Marks each object that can be empty as one whole for server-side apply. Otherwise an apply that removes its last
 * member turns it into null, which the API server refuses. The spec itself has the default `{}` instead, so that
 * several appliers can share it. Lists are replaced as a whole anyway.
 *
 * The members of such an object have no defaults here: a default would count as a change of the whole object by another
 * applier. The operator fills the defaults in when it makes a request.
 */
function appliedWhole(schema: JSONSchema): JSONSchema {
  if (schema["type"] !== "object") return schema;
  if (canBeEmpty(schema)) return { ...withoutDefaults(schema), "x-kubernetes-map-type": "atomic" };
  return withMembers(schema, appliedWhole);
}

function withoutDefaults({ default: _, ...schema }: JSONSchema): JSONSchema {
  return schema.properties ? withMembers(schema, withoutDefaults) : schema;
}

function withMembers(schema: JSONSchema, change: (member: JSONSchema) => JSONSchema): JSONSchema {
  const members = Object.entries(schema.properties ?? {}).map(([field, member]) => [field, change(member)]);
  return { ...schema, ...(members.length > 0 && { properties: Object.fromEntries(members) }) };
}
