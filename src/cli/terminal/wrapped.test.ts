import { expect, test } from "vitest";
import { wrapped } from "./wrapped.ts";

test.each([
  ["what fits", "one two", 7, ["one two"]],
  ["between words", "one two three", 8, ["one two", "three"]],
  ["in a word that is too long", "abcdefghij k", 4, ["abcd", "efgh", "ij k"]],
  ["not at all in a pipe", "one two three", undefined, ["one two three"]],
])("%s", (_, text, columns, lines) => {
  expect(wrapped(text, columns)).toEqual(lines);
});

test("the indent counts", () => {
  expect(wrapped("one two", 6, "  ")).toEqual(["  one", "  two"]);
});
