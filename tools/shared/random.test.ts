import { describe, expect, it } from "vitest";
import { randomFrom } from "./random.ts";

const first = (seed: number) => Array.from({ length: 5 }, randomFrom(seed));

describe("random numbers", () => {
  it("are the same for the same seed, and others for another", () => {
    expect(first(7)).toEqual(first(7));
    expect(first(7)).not.toEqual(first(8));
  });

  it("choose within limits", () => {
    const random = randomFrom(1);
    const chosen = Array.from({ length: 100 }, () => random.below(3));
    expect(new Set(chosen)).toEqual(new Set([0, 1, 2]));
    expect(["a", "b"]).toContain(random.of(["a", "b"]));
  });
});
