import type { Schema, Written } from "./written.ts";

type Change = (written: Written) => void;

export interface Variant {
  name: string;
  of: "peer" | "ours";
  change: Change;
}

/** What the API server is given. From the fourth on, they leave something out of what our operator has written. */
export const variants: readonly Variant[] = [
  { of: "peer", name: "peer", change: () => {} },
  { of: "ours", name: "ours", change: () => {} },
  { of: "ours", name: "with an owner of each field of the status", change: withStatusOwners },
  { of: "ours", name: "without the CEL rules", change: withoutRules },
  { of: "ours", name: "without rules and unused fields in the definition", change: all(withoutRules, withoutUnused) },
  { of: "ours", name: "without the default of the status", change: withoutStatusDefault },
  { of: "ours", name: "without the create intent", change: withoutIntent },
  { of: "ours", name: "without the texts of the columns", change: withoutStatus("columns") },
  { of: "ours", name: "without the condition Synced", change: withoutSynced },
  { of: "ours", name: "with id and conditions alone in the status", change: withoutDetails },
  {
    of: "ours",
    name: "without all of these",
    change: all(withoutRules, withoutIntent, withoutSynced, withoutDetails, withoutStatusDefault, withoutUnused),
  },
];

function all(...changes: readonly Change[]): Change {
  return (written) => {
    for (const change of changes) change(written);
  };
}

const schemasOf = ({ definition }: Written): Schema[] =>
  definition.spec.versions.map(({ schema }) => schema.openAPIV3Schema);

function withStatusOwners(written: Written): void {
  for (const { properties } of schemasOf(written)) delete properties?.["status"]?.["x-kubernetes-map-type"];
}

function withoutRules(written: Written): void {
  const clean = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    delete (value as Schema)["x-kubernetes-validations"];
    for (const member of Object.values(value)) clean(member);
  };
  for (const schema of schemasOf(written)) clean(schema);
}

function withoutUnused(written: Written): void {
  const { spec } = written.created as unknown as { spec: object };
  for (const { properties } of schemasOf(written)) {
    // the defaults of the spec stay
    prune(properties?.["spec"], { ...spec, managementPolicy: "", driftPolicy: "" });
    prune(properties?.["status"], written.status);
  }
}

function prune(schema: Schema | undefined, value: unknown): void {
  if (!schema?.properties || typeof value !== "object" || value === null) return;
  for (const [name, property] of Object.entries(schema.properties)) {
    if (name in value) prune(property, (value as Record<string, unknown>)[name]);
    else delete schema.properties[name];
  }
}

function withoutStatusDefault(written: Written): void {
  for (const { properties } of schemasOf(written)) delete properties?.["status"]?.default;
}

function withoutIntent({ metadata }: Written): void {
  delete metadata.annotations;
}

function withoutSynced({ status }: Written): void {
  status.conditions = (status.conditions ?? []).filter(({ type }) => type !== "Synced");
}

function withoutStatus(field: string): Change {
  return ({ status }) => {
    delete (status as Record<string, unknown>)[field];
  };
}

const KEPT = ["id", "observedGeneration", "conditions"];

function withoutDetails({ status }: Written): void {
  for (const field of Object.keys(status)) if (!KEPT.includes(field)) delete (status as Record<string, unknown>)[field];
}
