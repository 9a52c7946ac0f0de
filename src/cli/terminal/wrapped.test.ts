import { expect, test } from "vitest";
import { wrapped, wrappedLine, wrappedText } from "./wrapped.ts";

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

test("what goes on may stand below something else", () => {
  expect(wrapped("one two", 7, "- ", "    ")).toEqual(["- one", "    two"]);
});

test.each([
  ["keeps its indent", "  one two", 6, ["  one", "  two"]],
  [
    "goes on below its second column",
    `  plan  ${"word ".repeat(8)}end`,
    40,
    [`  plan  ${"word ".repeat(6).trimEnd()}`, "        word word end"],
  ],
  [
    "goes on at its indent where its second column is too narrow",
    `  plan  ${"word ".repeat(3)}end`,
    20,
    ["  plan  word word", "  word end"],
  ],
])("a line %s", (_, line, columns, lines) => {
  expect(wrappedLine(line, columns)).toEqual(lines);
});

const written = `
  plan -f DIR/  before a request
  plan          as it is

  A paragraph that
  goes on.

  retain:  take the
           finalizer off
  delete:  delete`;

test("the lines of a paragraph, and of a second column, are one text; lines of two columns are not", () => {
  expect(wrappedText(written, 100)).toEqual([
    "",
    "  plan -f DIR/  before a request",
    "  plan          as it is",
    "",
    "  A paragraph that goes on.",
    "",
    "  retain:  take the finalizer off",
    "  delete:  delete",
  ]);
});
