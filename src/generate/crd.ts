import type * as z from "zod";
import { specOf, statusOf } from "../kinds/common.ts";
import { CATEGORY, GROUP, VERSION } from "../kinds/contract.ts";
import type { Column, Kind } from "../kinds/define.ts";
import { mark } from "../kinds/traits.ts";
import { type JSONSchema, structural } from "./schema.ts";

/** What an object says until the operator has looked at it: without it, an empty status reads as healthy. */
const unobserved = {
  observedGeneration: -1,
  conditions: [
    {
      type: "Ready",
      status: "Unknown",
      reason: "Pending",
      message: "Waiting for the operator to observe this object",
      lastTransitionTime: "1970-01-01T00:00:00Z",
    },
  ],
};

/** The columns of every kind, after those of its own. */
const columns: readonly Column[] = [
  { name: "Ready", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: "Reason", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
  { name: "ID", jsonPath: ".status.id", description: "Remote id" },
  { name: "Age", jsonPath: ".metadata.creationTimestamp", type: "date" },
  { name: "Message", jsonPath: '.status.conditions[?(@.type=="Ready")].message', wide: true },
];

/** The CustomResourceDefinition of a kind, ready to be written as YAML. */
export function crdOf(kind: Kind): object {
  const { plural, shortNames } = kind;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}`, labels: { "app.kubernetes.io/part-of": "tunnel-gateway-operator" } },
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
          additionalPrinterColumns: [...kind.columns, ...columns].map(printerColumn),
          selectableFields: [{ jsonPath: ".status.id" }],
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

function objectSchema(kind: Kind): JSONSchema {
  const spec = structural(mark(specOf(kind) as z.ZodObject, { rules: kind.rules }));
  const status = structural(statusOf(kind));
  const conditions = status.properties?.["conditions"] as JSONSchema;
  Object.assign(conditions, { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] });
  return {
    type: "object",
    description: kind.summary,
    required: ["spec"],
    properties: {
      apiVersion: { type: "string", description: "Version of the schema of this object." },
      kind: { type: "string", description: "Kind of this object." },
      metadata: { type: "object" },
      spec: { ...spec, description: "What the account should have." },
      status: { ...status, description: "What the account has, as the operator saw it last.", default: unobserved },
    },
  };
}
