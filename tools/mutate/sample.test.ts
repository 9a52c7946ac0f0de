import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { choose, type Mutant } from "./sample.ts";

const mutants: Mutant[] = Array.from({ length: 50 }, (_, index) => ({
  id: String(index),
  fileName: resolve("src/a.ts"),
  mutatorName: "BooleanLiteral",
  replacement: "true",
  location: { start: { line: index >> 1, column: index } },
}));

const ids = (chosen: readonly Mutant[]) => chosen.map(({ id }) => id);

describe("a sample", () => {
  it("is as large as it should be, or everything", () => {
    expect(new Set(choose(mutants, { count: 10, seed: 1 })).size).toBe(10);
    expect(choose(mutants, { count: 100, seed: 1 })).toHaveLength(50);
  });

  it("is the same for the same seed, in any order of the mutants, and another for another seed", () => {
    const chosen = ids(choose(mutants, { count: 10, seed: 1 }));
    expect(ids(choose(mutants.toReversed(), { count: 10, seed: 1 }))).toEqual(chosen);
    expect(ids(choose(mutants, { count: 10, seed: 2 }))).not.toEqual(chosen);
  });

  it("of a line has all that begins there", () => {
    expect(ids(choose(mutants, { count: 1, seed: 1, line: 3 }))).toEqual(["4", "5"]);
  });
});
