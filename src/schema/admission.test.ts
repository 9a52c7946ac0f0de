import { describe, expect, test } from "vitest";
import * as z from "zod";
import { refusalsOf } from "./admission.ts";
import { annotations, instant, labels, matching } from "./fields.ts";
import { areDistinct, isBefore, lowerASCII } from "./rules.ts";

test("a text is counted in characters, as the API server counts", () => {
  const name = z.object({ name: z.string().max(3) });
  expect(refusalsOf(name, { name: "😀😀😀" })).toEqual([]);
  expect(refusalsOf(name, { name: "😀😀😀😀" })).toEqual([expect.objectContaining({ path: "name" })]);
});

test("a text that is not too long is still asked for all rules", () => {
  const name = z.object({ name: matching(z.string().max(3), /^a/, "must begin with a") });
  expect(refusalsOf(name, { name: "b😀😀" })).not.toEqual([]);
});

describe("a pattern that RE2 reads in another way is refused", () => {
  test.each([/^a.b$/, /^\s+$/, /^[a]\w$/, /\bb/])("%s", (pattern) => {
    expect(() => matching(z.string(), pattern, "")).toThrow(TypeError);
  });

  test.each([/^[^\s/]+$/, /^a\.b$/, /^[.]$/, /^[^\n]$/])("but not %s", (pattern) => {
    expect(() => matching(z.string(), pattern, "")).not.toThrow();
  });
});

test.each([
  ["2030-02-28T12:00:00Z", true],
  ["2030-02-29T12:00:00Z", false],
  ["2032-02-29T12:00:00Z", true],
  ["2100-02-29T12:00:00Z", false],
  ["2000-02-29T12:00:00Z", true],
  ["2030-04-31T12:00:00Z", false],
  ["2030-01-31T12:00:00+14:00", true],
  ["2030-01-31T12:00:00+24:00", false],
  ["2030-01-31T12:00:00.000001-05:30", true],
])("%s is a time: %s", (text, isTime) => {
  expect(refusalsOf(instant, text).length === 0).toBe(isTime);
});

test("times are compared to the nanosecond, and only letters of ASCII have a case", () => {
  expect(isBefore("2030-01-01T00:00:00.0000001Z", "2030-01-01T00:00:00.0000002Z")).toBe(true);
  expect(isBefore("2030-01-01T00:00:00.5Z", "2030-01-01T00:00:00.50Z")).toBe(false);
  expect(isBefore("2030-01-01T02:00:00+02:00", "2030-01-01T00:00:00.001Z")).toBe(true);
  expect(areDistinct(["K", "\u212a"], lowerASCII)).toBe(true);
  expect(areDistinct(["K", "k"], lowerASCII)).toBe(false);
});

const longest = `${"a.".repeat(126)}a`;

test.each([
  ["app", true],
  ["a.example/app", true],
  [`${longest}/app`, true],
  [`${longest}b/app`, false],
  ["", false],
  ["a/", false],
  ["a..b/app", false],
  ["__proto__", false],
  ["a".repeat(64), false],
])("%s is the key of a label and of an annotation: %s", (key, isOne) => {
  const map = Object.fromEntries([[key, "web"]]);
  expect(refusalsOf(labels(2), map).length === 0).toBe(isOne);
  expect(refusalsOf(annotations(2), map).length === 0).toBe(isOne);
});

test("only annotations take a prefix in upper case, and any text", () => {
  const map = { "A.example/app": "any / text" };
  expect(refusalsOf(annotations(2), map)).toEqual([]);
  expect(refusalsOf(labels(2), map)).not.toEqual([]);
});

test("so many and no more", () => {
  expect(refusalsOf(labels(2), { a: "", b: "" })).toEqual([]);
  expect(refusalsOf(labels(2), { a: "", b: "", c: "" })).toHaveLength(1);
});
