import { expect, test } from "vitest";
import { crdOf } from "../../generate/crd.ts";
import { customResources } from "../../kinds/index.ts";
import type { JSONSchema } from "../../schema/structural.ts";
import { missingFrom } from "./definitions.ts";

/** What an API server publishes about our CRDs. */
function published(): Record<string, JSONSchema> {
  const schemas = customResources.map((resource): [string, JSONSchema] => {
    // biome-ignore lint/suspicious/noExplicitAny: a manifest, read deep
    const { versions } = (crdOf(resource) as any).spec;
    return [`dev.tunnelgateway.v1.${resource.kind}`, structuredClone(versions[0].schema.openAPIV3Schema)];
  });
  return Object.fromEntries(schemas);
}

test("our own CRDs lack nothing", () => {
  expect(missingFrom(published())).toEqual([]);
});

test("a kind and a field at any depth are missed", () => {
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

test("a newer CRD with more fields is no reason to stop", () => {
  const schemas = published();
  Object.assign(schemas["dev.tunnelgateway.v1.IPPolicy"]?.properties?.["spec"]?.properties ?? {}, { later: {} });
  expect(missingFrom(schemas)).toEqual([]);
});
