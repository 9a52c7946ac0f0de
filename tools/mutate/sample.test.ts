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

const of = (count: number, seed: number) => ({ count, seed, places: [] });
const ids = (chosen: readonly Mutant[]) => chosen.map(({ id }) => id);

describe("a sample", () => {
  it("is as large as it should be, or everything", () => {
    expect(new Set(choose(mutants, of(10, 1))).size).toBe(10);
    expect(choose(mutants, of(100, 1))).toHaveLength(50);
  });

  it("is the same for the same seed, in any order of the mutants, and another for another seed", () => {
    const chosen = ids(choose(mutants, of(10, 1)));
    expect(ids(choose(mutants.toReversed(), of(10, 1)))).toEqual(chosen);
    expect(ids(choose(mutants, of(10, 2)))).not.toEqual(chosen);
  });

  it("of places has all that begins there", () => {
    const places = [
      { file: "./src/a.ts", line: 3 },
      { file: "src/b.ts", line: 4 },
      { file: "src/a.ts", line: 9 },
    ];
    expect(ids(choose(mutants, { count: 1, seed: 1, places }))).toEqual(["4", "5", "16", "17"]);
  });
});
