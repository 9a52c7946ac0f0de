import fc from "fast-check";
import { expect, it } from "vitest";
import { Multimap } from "./multimap.ts";

const step = fc.record({
  act: fc.constantFrom<"add" | "delete">("add", "delete"),
  key: fc.constantFrom("a", "b"),
  value: fc.constantFrom("x", "y", "z"),
});

/** All pairs in the map. */
function left(steps: readonly { act: "add" | "delete"; key: string; value: string }[]): string[] {
  const pairs = new Set<string>();
  for (const { act, key, value } of steps) pairs[act](`${key} ${value}`);
  return [...pairs].sort();
}

it("has, under each key and once, the values that were added and not deleted", () => {
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const map = new Multimap();
      for (const { act, key, value } of steps) map[act](key, value);
      const found = ["a", "b"].flatMap((key) => Array.from(map.get(key), (value) => `${key} ${value}`));
      expect(found.sort()).toEqual(left(steps));
      expect(map.size).toBe(new Set(found.map((pair) => pair[0])).size);
    }),
  );
});
