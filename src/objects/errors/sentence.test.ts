import { describe, expect, it } from "vitest";
import { sentence } from "./sentence.ts";

describe("a sentence about several objects", () => {
  const [before, after] = ["Delete ", " first"];
  const room = 200 - before.length - after.length;
  const name = (length: number, letter = "x") => letter.repeat(length);

  it("has a name in full that just fits, and cuts one that is longer", () => {
    expect(sentence(before, [name(room)], after)).toBe(`${before}${name(room)}${after}`);
    expect(sentence(before, [name(room + 1)], after)).toBe(`${before}${name(room - 1)}…${after}`);
  });

  it("has two names that just fit, and only counts the second where they do not", () => {
    const first = name(room - 12);
    expect(sentence(before, [first, name(10, "y")], after)).toBe(`${before}${first}, ${name(10, "y")}${after}`);
    expect(sentence(before, [first, name(11, "y")], after)).toBe(`${before}${first} and 1 more${after}`);
  });

  it("has at most three names, and counts the rest", () => {
    expect(sentence(before, ["a", "b", "c"], after)).toBe("Delete a, b, c first");
    expect(sentence(before, ["a", "b", "c", "d", "e"], after)).toBe("Delete a, b, c and 2 more first");
  });
});
