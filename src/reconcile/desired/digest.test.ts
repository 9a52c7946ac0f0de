import { describe, expect, it } from "vitest";
import { digestOf } from "./digest.ts";

describe("a digest", () => {
  it.each<[string, unknown, unknown]>([
    ["in another order", { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
    ["with unset members", { a: 1 }, { a: 1, b: undefined }],
  ])("is the same for equal values %s", (_, one, other) => {
    expect(digestOf(one)).toBe(digestOf(other));
  });

  it.each<[string, unknown, unknown]>([
    ["of a member", { a: 1 }, { a: 2 }],
    ["deep within", { a: [{ b: { c: "x" } }] }, { a: [{ b: { c: "y" } }] }],
    ["in the order of a list", { a: [1, 2] }, { a: [2, 1] }],
    ["from unset to null", {}, { a: null }],
  ])("differs after a change %s", (_, one, other) => {
    expect(digestOf(one)).not.toBe(digestOf(other));
  });

  it("has 16 hexadecimal digits", () => {
    expect(digestOf({ a: "a value" })).toMatch(/^[0-9a-f]{16}$/);
  });
});
