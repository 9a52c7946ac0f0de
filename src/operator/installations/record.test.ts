import { expect, it } from "vitest";
import { overlaps } from "./record.ts";

it.each([
  [[], [], true],
  [[], ["a"], true],
  [["a", "b"], ["b"], true],
  [["a"], ["b"], false],
])("namespaces %j and %j overlap: %s", (one, other, expected) => {
  expect(overlaps({ namespaces: one }, { namespaces: other })).toBe(expected);
});
