import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OWNER_KEY } from "../schema/contract.ts";
import {
  canBeMarked,
  createIn,
  hasOnlyMark,
  isMadeBy,
  isMarkOf,
  metadataWithMark,
  objectOf,
  ownerMark,
  ownerMarkOf,
  ownerTextOf,
  parseMark,
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
    expect(parseMark(born)).toEqual({ ...owner, create });
    expect(parseMark("0f3d/team-a/db")).toEqual({ ...owner, create: undefined });
    const forged = [
      ...["", "/", "//", "0f3d", "0f3d/", "0f3d//", "0f3d/team-a", "0f3d/team-a/", "0f3d//db", "/team-a/db", "#2026"],
      ...["my cluster/team-a/db", "clüster/team-a/db", `${"x".repeat(129)}/team-a/db`],
      ...[
        "0f3d/team-a/db/more",
        "0f3d/../db",
        "0f3d/team-a/DB",
        "0f3d/team-a/d b",
        "0f3d/team-a/db\n",
        " 0f3d/team-a/db",
      ],
      ...[`0f3d/team-a/${"x".repeat(254)}`, `0f3d/${"x".repeat(64)}/db`],
    ];
    for (const text of forged) expect([parseMark(text), objectOf(text)], text).toEqual([undefined, undefined]);
    expect([ownerTextOf(born), objectOf(born)]).toEqual(["0f3d/team-a/db", "team-a/db"]);
  });

  it("names the same object as a mark without a create, whatever the text after # is", () => {
    for (const text of [born, "0f3d/team-a/db#", "0f3d/team-a/db#a/b#c"]) {
      expect([isMarkOf(text, owner), objectOf(text)]).toEqual([true, "team-a/db"]);
    }
    expect(isMarkOf(`0f3d/team-a/db2#${create}`, owner)).toBe(false);
  });

  it("says which create made the remote, to its object alone", () => {
    const remote = { metadata: withOwnerMark(undefined, { ...owner, create }) };
    expect([createIn(remote, owner), createIn(remote, { ...owner, name: "other" })]).toEqual([create, undefined]);
    expect([create, "another"].map((one) => isMadeBy(remote, owner, one))).toEqual([true, false]);
    expect(createIn({ metadata: withOwnerMark(undefined, owner) }, owner)).toBeUndefined();
  });

  it("comes off the user's text as a whole", () => {
    expect(withoutOwnerMark(withOwnerMark('{"team":"a"}', { ...owner, create }))).toBe('{"team":"a"}');
  });
});

describe("the metadata of a create", () => {
  const marked = withOwnerMark(undefined, owner);

  it.each([
    ["nothing", undefined],
    ["text that is no JSON object", "a text"],
    ["text that leaves no room", JSON.stringify({ text: "x".repeat(4060) })],
  ])("has the mark alone for %s", (_, text) => {
    expect(metadataWithMark(text, owner)).toBe(marked);
    expect(hasOnlyMark({ metadata: metadataWithMark(text, owner) }, owner)).toBe(true);
  });

  it("has the mark beside the user's members", () => {
    expect(metadataWithMark('{"team":"a"}', owner)).toBe(withOwnerMark('{"team":"a"}', owner));
    expect(hasOnlyMark({ metadata: withOwnerMark('{"team":"a"}', owner) }, owner)).toBe(false);
    expect(hasOnlyMark({ metadata: "a text" }, owner)).toBe(false);
  });
});
