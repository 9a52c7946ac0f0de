import { expect, test } from "vitest";
import { crdOf } from "../../generate/crd.ts";
import { customResources } from "../../kinds/index.ts";
import type { JSONSchema } from "../../schema/structural.ts";
import { missingFrom } from "./definitions.ts";

/** The OpenAPI schemas that an API server publishes for our CRDs. */
function published(): Record<string, JSONSchema> {
  const schemas = customResources.map((resource): [string, JSONSchema] => {
    // biome-ignore lint/suspicious/noExplicitAny: a manifest, read deep
    const { versions } = (crdOf(resource) as any).spec;
    return [`dev.tunnelgateway.v1.${resource.kind}`, structuredClone(versions[0].schema.openAPIV3Schema)];
  });
  return Object.fromEntries(schemas);
}

test("no field of our own CRDs is missing", () => {
  expect(missingFrom(published())).toEqual([]);
});

test("reports a missing kind, and a missing field at any depth", () => {
  const schemas = published();
  delete schemas["dev.tunnelgateway.v1.IPPolicy"];
  const edge = schemas["dev.tunnelgateway.v1.TCPEdge"]?.properties?.["spec"]?.properties ?? {};
  delete edge["hostports"];
  delete edge["backend"]?.properties?.["backendRef"]?.properties?.["name"];
  expect(missingFrom(schemas).sort()).toEqual([
    "IPPolicy",
    "TCPEdge.spec.backend.backendRef.name",
    "TCPEdge.spec.hostports",
  ]);
});

test("accepts a newer CRD with more fields", () => {
  const schemas = published();
  Object.assign(schemas["dev.tunnelgateway.v1.IPPolicy"]?.properties?.["spec"]?.properties ?? {}, { later: {} });
  expect(missingFrom(schemas)).toEqual([]);
});
