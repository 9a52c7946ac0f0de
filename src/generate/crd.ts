import { CATEGORY, GROUP, OPERATOR_NAME, VERSION } from "../schema/contract.ts";
import type { Column, CustomResource } from "../schema/define.ts";
import { type JSONSchema, structural } from "../schema/structural.ts";
import { mark } from "../schema/traits.ts";

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
    properties: {
      apiVersion: { type: "string", description: "Version of the schema of this object." },
      kind: { type: "string", description: "Kind of this object." },
      metadata: { type: "object" },
      spec: { ...spec, description: spec["description"] ?? "What the account should have." },
      status: {
        ...status,
        description: status["description"] ?? "What the account has, as the operator saw it last.",
        ...(kind.initialStatus && { default: kind.initialStatus }),
      },
    },
  };
}
