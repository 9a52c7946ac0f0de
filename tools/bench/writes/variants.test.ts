import { describe, expect, it } from "vitest";
import { type Variant, variants } from "./variants.ts";
import type { Written } from "./written.ts";

const rules = [{ rule: "true" }];

const sample = (): Written => ({
  definition: {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example" },
    spec: {
      group: "example",
      names: { kind: "Thing", plural: "things" },
      versions: [
        {
          schema: {
            openAPIV3Schema: {
              properties: {
                spec: { properties: { used: { "x-kubernetes-validations": rules }, unused: {} } },
                status: {
                  "x-kubernetes-map-type": "atomic",
                  default: { observedGeneration: -1 },
                  properties: { id: {}, uri: {}, conditions: {}, never: {} },
                },
              },
            },
          },
        },
      ],
    },
  },
  type: { group: "example", version: "v1", plural: "things", kind: "Thing" },
  created: { apiVersion: "example/v1", kind: "Thing", metadata: { name: "one" }, spec: { used: 1 } } as never,
  metadata: { finalizers: ["f"], annotations: { intent: "" } },
  status: {
    id: "t_1",
    uri: "/t_1",
    columns: { reason: "Available" },
    conditions: ["Ready", "Synced"].map((type) => ({
      type,
      status: "True",
      reason: "Available",
      message: "",
      lastTransitionTime: "",
      observedGeneration: 1,
    })),
  } as Written["status"],
});

function changed(name: string): Written {
  const { change } = variants.find((variant) => variant.name === name) as Variant;
  const written = sample();
  change(written);
  return written;
}

describe("what is left out of the objects of our operator", () => {
  it.each(variants.slice(2).map(({ name }) => name))("is something: %s", (name) => {
    expect(changed(name)).not.toEqual(sample());
  });

  it("is all of it in the last variant, but what the operator needs for a create", () => {
    const { definition, metadata, status } = changed("without all of these");
    expect(definition.spec.versions).toEqual([
      {
        schema: {
          openAPIV3Schema: {
            properties: {
              spec: { properties: { used: {} } },
              status: { "x-kubernetes-map-type": "atomic", properties: { id: {}, conditions: {} } },
            },
          },
        },
      },
    ]);
    expect(metadata).toEqual({ finalizers: ["f"] });
    expect(status.conditions?.map(({ type }) => type)).toEqual(["Ready"]);
    expect(Object.keys(status)).toEqual(["id", "conditions"]);
  });
});
