import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OWNER_KEY } from "../schema/contract.ts";
import {
  canBeMarked,
  isMarkOf,
  isPresentMarkOf,
  markToKeep,
  objectOf,
  ownerMark,
  ownerMarkOf,
  ownerOf,
  ownerTextOf,
  withOwnerMark,
  withoutOwnerMark,
} from "./ownership.ts";

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

describe("a mark that ends with the create that made the remote", () => {
  const create = "2026-11-26T10:00:00.000Z";
  const born = `0f3d/team-a/db#${create}`;

  it("is written and taken apart without loss, with and without a create", () => {
    expect(ownerMark({ ...owner, create })).toBe(born);
    expect(ownerOf(born)).toEqual({ ...owner, create });
    expect(ownerOf("0f3d/team-a/db")).toEqual({ ...owner, create: undefined });
    expect([ownerTextOf(born), objectOf(born)]).toEqual(["0f3d/team-a/db", "team-a/db"]);
  });

  it("names the same object as a mark without a create, whatever the text after # is", () => {
    for (const text of [born, "0f3d/team-a/db#", "0f3d/team-a/db#a/b#c"]) {
      expect([isMarkOf(text, owner), isPresentMarkOf(text, owner), objectOf(text)]).toEqual([true, true, "team-a/db"]);
    }
    expect(isMarkOf(`0f3d/team-a/db2#${create}`, owner)).toBe(false);
  });

  it("keeps the create when the mark is written anew for the same object, and loses it for another one", () => {
    const moved = { ...owner, cluster: "new", formerClusters: ["0f3d"] };
    expect(ownerMark(markToKeep(born, moved))).toBe(`new/team-a/db#${create}`);
    expect(isPresentMarkOf(born, moved)).toBe(false);
    expect(ownerMark(markToKeep(born, { ...owner, name: "other" }))).toBe("0f3d/team-a/other");
    expect(ownerMark(markToKeep(undefined, owner))).toBe("0f3d/team-a/db");
  });

  it("comes off the user's text as a whole", () => {
    expect(withoutOwnerMark(withOwnerMark('{"team":"a"}', { ...owner, create }))).toBe('{"team":"a"}');
  });
});
