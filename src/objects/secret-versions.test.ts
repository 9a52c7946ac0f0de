import { describe, expect, it } from "vitest";
import type { SecretVersion } from "./object.ts";
import { areSameVersions, keptWhileSending, unsentFields, unsentSecrets } from "./secret-versions.ts";

const version = (resourceVersion: string, keys: Record<string, string> = {}, name = "dd"): SecretVersion => ({
  name,
  resourceVersion,
  keys,
});

describe("unsentFields", () => {
  it.each<[string, SecretVersion[], SecretVersion[], string[]]>([
    ["was never sent", [version("1", { a: "x" })], [], ["a"]],
    ["has changed", [version("2", { a: "x" })], [version("1", { a: "x" })], ["a"]],
    ["is as it was sent", [version("1", { a: "x" })], [version("1", { a: "x" })], []],
    ["is of another key", [version("1", { a: "y" })], [version("1", { a: "x" })], ["a"]],
    ["is another field's", [version("1", { a: "x", b: "y" })], [version("1", { a: "y", b: "x" })], ["a", "b"]],
    ["is of another Secret", [version("1", { a: "x" }, "other")], [version("1", { a: "x" })], ["a"]],
    ["is that of no key", [version("1")], [], []],
    [
      "has changed in one of two Secrets",
      [version("1", { a: "x" }), version("3", { b: "x" }, "other")],
      [version("2", { b: "x" }, "other"), version("1", { a: "x" })],
      ["b"],
    ],
  ])("names the field whose value %s", (_, current, applied, expected) => {
    expect(unsentFields(current, applied)).toEqual(expected);
  });

  it("tells which Secrets have them", () => {
    const current = [
      version("1", { a: "x" }),
      version("3", { b: "x", c: "x" }, "other"),
      version("1", { d: "x" }, "new"),
    ];
    const applied = [version("1", { a: "x" }), version("3", { b: "x" }, "other")];
    expect(unsentSecrets(current, applied)).toEqual(["other", "new"]);
    expect(unsentSecrets(applied, current)).toEqual([]);
  });
});

describe("areSameVersions", () => {
  const one = version("1", { a: "x" });

  it.each<[boolean, string, SecretVersion[], SecretVersion[]]>([
    [true, "equal", [one], [one]],
    [false, "without a Secret", [one], []],
    [false, "with a field more", [one], [version("1", { a: "x", b: "y" })]],
    [false, "with an entry more that has no field", [one], [one, version("1", {}, "other")]],
  ])("is %s of versions that are %s", (expected, _, some, others) => {
    expect(areSameVersions(some, others)).toBe(expected);
    expect(areSameVersions(others, some)).toBe(expected);
  });
});

describe("keptWhileSending", () => {
  it.each<[string, SecretVersion[], SecretVersion[], SecretVersion[]]>([
    [
      "another version: an old one never comes back",
      [version("1", { a: "x" })],
      [version("2", { a: "x" })],
      [version("1", { a: "x" })],
    ],
    ["another key", [version("1", { a: "x", b: "y" })], [version("1", { a: "z", b: "y" })], [version("1", { b: "y" })]],
    ["another Secret", [version("1", { a: "x" })], [version("1", { a: "x" }, "other")], []],
    ["nothing any more", [version("1", { a: "x" })], [], []],
    [
      "one of two Secrets",
      [version("1", { a: "x" }), version("1", { b: "x" }, "other")],
      [version("1", { c: "x" }, "new"), version("2", { b: "x" }, "other")],
      [version("1", { b: "x" }, "other")],
    ],
  ])("keeps the version that counts while a field takes %s", (_, applied, next, expected) => {
    expect(keptWhileSending(applied, next)).toEqual(expected);
  });
});
