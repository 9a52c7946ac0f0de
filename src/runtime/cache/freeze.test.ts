import { expect, it } from "vitest";
import type { KubeObject } from "../object.ts";
import { freeze } from "./freeze.ts";
import { intern } from "./intern.ts";

const given = (name: string): KubeObject =>
  JSON.parse(
    JSON.stringify({
      apiVersion: "example.dev/v1",
      kind: "Thing",
      metadata: {
        name,
        namespace: "default",
        managedFields: [{ manager: "somebody" }],
        finalizers: ["example.dev/hold"],
        annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}", mine: "kept" },
      },
      spec: { list: ["a", ["b"], { c: "d", e: 1, f: null }], frozen: null },
    }),
  );

it("removes only what the API server and kubectl alone need, and freezes the rest deeply", () => {
  const frozen = freeze(given("a"));
  const { managedFields: _, ...metadata } = given("a").metadata as KubeObject["metadata"] & { managedFields: unknown };
  expect(frozen).toEqual({ ...given("a"), metadata: { ...metadata, annotations: { mine: "kept" } } });
  const { list } = frozen["spec"] as { list: unknown[] };
  for (const value of [frozen, frozen.metadata, frozen.metadata.finalizers, list, ...list]) {
    expect(Object.isFrozen(value)).toBe(true);
  }
});

it("accepts a frozen object", () => {
  const once = freeze(given("a"));
  expect(freeze({ ...once, metadata: { ...once.metadata } })).toEqual(once);
});

it("freezes what is nested as deep as the API server takes it", () => {
  const spec = JSON.parse(`${'{"a":'.repeat(9000)}1${"}".repeat(9000)}`);
  expect(Object.isFrozen(freeze({ ...given("a"), spec })["spec"])).toBe(true);
});

it("does not change any text, however many there are", () => {
  const texts = Array.from({ length: 5000 }, (_, index) => `text ${index}`);
  expect(texts.map(intern)).toEqual(texts);
  expect(texts.map(intern)).toEqual(texts);
});

it("takes a list that is in two places, as an alias of YAML makes one", () => {
  const list = ["a"];
  const frozen = freeze({ ...given("a"), spec: { allow: list, deny: list } });
  expect(frozen).toMatchObject({ spec: { allow: ["a"], deny: ["a"] } });
  expect(Object.isFrozen(list)).toBe(true);
});
