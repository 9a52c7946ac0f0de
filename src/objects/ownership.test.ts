import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OWNER_KEY } from "../schema/contract.ts";
import { canBeMarked, ownerMark, ownerMarkOf, withOwnerMark, withoutOwnerMark } from "./ownership.ts";

const owner = { cluster: "0f3d", namespace: "team-a", name: "db" };
const mark = `"${OWNER_KEY}":"0f3d/team-a/db"`;

describe("withOwnerMark", () => {
  it.each([
    ["unset", undefined, `{${mark}}`],
    ["empty", "", `{${mark}}`],
    ["an empty object", "{}", `{${mark}}`],
    ["an object", '{"team":"a"}', `{"team":"a",${mark}}`],
    ["an object with blanks around", ' {\n  "team": "a"\n}\n', ` {\n  "team": "a",${mark}\n}\n`],
    ["an empty object with blanks", " { } ", ` {${mark} } `],
    [
      "an object with a number that a double cannot represent",
      '{"id":9007199254740993,"x":1.0}',
      `{"id":9007199254740993,"x":1.0,${mark}}`,
    ],
    ["an object with braces in a string", '{"a":"{}}"}', `{"a":"{}}",${mark}}`],
    ["marked already", `{${mark}, "id":9007199254740993}`, `{${mark}, "id":9007199254740993}`],
    ["an object with another owner", `{"${OWNER_KEY}":"x/y/z","team":"a"}`, `{${mark},"team":"a"}`],
  ])("marks metadata that is %s", (_, metadata, expected) => {
    expect(withOwnerMark(metadata, owner)).toBe(expected);
  });

  it.each([
    ["a text", "owned by team a"],
    ["a number", "42"],
    ["a list", '["a"]'],
    ["null", "null"],
    ["a quoted text", '"a"'],
    ["broken JSON", '{"a":1'],
    ["blank", "  "],
  ])("does not change metadata that is %s", (_, metadata) => {
    expect(withOwnerMark(metadata, owner)).toBe(metadata);
    expect(canBeMarked(metadata, owner)).toBe(false);
  });

  it("marks up to the limit of 4096 bytes and not beyond", () => {
    const empty = Buffer.byteLength(withOwnerMark('{"t":""}', owner) ?? "");
    // each of these is two bytes
    const fits = JSON.stringify({ t: "ä".repeat(Math.floor((4096 - empty) / 2)) });
    const tooLong = JSON.stringify({ t: "ä".repeat(Math.floor((4096 - empty) / 2) + 1) });
    expect(ownerMarkOf({ metadata: withOwnerMark(fits, owner) })).toBe(ownerMark(owner));
    expect(withOwnerMark(tooLong, owner)).toBe(tooLong);
    expect(canBeMarked(tooLong, owner)).toBe(false);
  });

  it("keeps every byte of the user's, and adds the mark only once", () => {
    const users = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });
    fc.assert(
      fc.property(users, fc.nat(4), (given, spaces) => {
        const metadata = JSON.stringify(given, null, spaces);
        // metadata that would exceed the limit gets no mark
        fc.pre(canBeMarked(metadata, owner));
        const marked = withOwnerMark(metadata, owner) ?? "";
        expect(ownerMarkOf({ metadata: marked })).toBe(ownerMark(owner));
        expect(marked.replace(new RegExp(`,?${mark}`), "")).toBe(metadata);
        expect(withOwnerMark(marked, owner)).toBe(marked);
      }),
    );
  });
});

describe("ownerMarkOf", () => {
  it.each([
    ["no metadata", {}],
    ["null", { metadata: null }],
    ["a text", { metadata: "hello" }],
    ["an object without the key", { metadata: '{"a":1}' }],
    ["an owner that is no text", { metadata: `{"${OWNER_KEY}":7}` }],
  ])("is unknown for %s", (_, answer) => {
    expect(ownerMarkOf(answer)).toBeUndefined();
  });
});

describe("withoutOwnerMark", () => {
  it.each([['{"team": "a"}'], [' {\n  "team": "a"\n}\n'], ['{"id":9007199254740993,"x":1.0}'], ["no JSON"]])(
    "gives back %j as it was",
    (text) => {
      expect(withoutOwnerMark(withOwnerMark(text, owner))).toBe(text);
    },
  );

  it("leaves the mark out of a text that somebody has written anew", () => {
    expect(withoutOwnerMark(`{ "team": "a", "${OWNER_KEY}": "0f3d/team-a/db" }`)).toBe('{"team":"a"}');
    expect(withoutOwnerMark(`{ "${OWNER_KEY}": "0f3d/team-a/db" }`)).toBeUndefined();
  });

  it.each([[undefined], [""], ["{}"]])("has nothing left of %j", (text) => {
    expect(withoutOwnerMark(withOwnerMark(text, owner))).toBeUndefined();
  });
});
