import { expect, test } from "vitest";
import { customResources } from "../../kinds/index.ts";
import { typeOf } from "../../objects/object.ts";
import type { OwnObject } from "./objects.ts";
import { referrersFirst } from "./order.ts";

function object(kind: string, name: string, spec: Record<string, unknown>, namespace = "one"): OwnObject {
  const resource = customResources.find((candidate) => candidate.kind === kind);
  if (!resource) throw new Error(`There is no kind ${kind}`);
  const ref = { namespace, name };
  return { resource, type: typeOf(resource), ref, object: { apiVersion: "", kind, metadata: ref, spec } };
}

const named = (name: string) => ({ name });
const names = (objects: readonly OwnObject[]) => objects.map(({ ref }) => `${ref.namespace}/${ref.name}`);

const backend = object("TunnelGroupBackend", "backend", {});
const policy = object("IPPolicy", "policy", {});
const edge = object("TCPEdge", "edge", {
  backend: { backendRef: { kind: "TunnelGroupBackend", name: "backend" } },
  ipRestriction: { ipPolicyRefs: [named("policy"), { id: "ipp_elsewhere" }, named("gone")] },
});

test.each([
  ["edge last", [backend, policy, edge]],
  ["edge first", [edge, policy, backend]],
  ["edge between", [policy, edge, backend]],
])("what is referred to comes after its referrers: %s", (_, objects) => {
  const order = names(referrersFirst(objects));
  expect([...order].sort()).toEqual(["one/backend", "one/edge", "one/policy"]);
  expect(order[0]).toBe("one/edge");
});

test("a name in another namespace is another object", () => {
  const other = object("IPPolicy", "policy", {}, "two");
  expect(names(referrersFirst([other, policy, edge])).slice(-1)).toEqual(["two/policy"]);
});
