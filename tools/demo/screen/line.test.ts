import { describe, expect, it } from "vitest";
import { clip, columns, line, plain, wrap } from "./line.ts";

describe("clip", () => {
  const spans = [{ text: "abc", style: "bold" as const }, { text: "def" }];

  it("keeps what fits", () => expect(clip(spans, 6)).toBe(spans));

  it.each([
    [5, "abcd…"],
    [4, "abc…"],
    [3, "ab…"],
    [1, "…"],
  ])("cuts to %i characters", (width, expected) => expect(plain(clip(spans, width))).toBe(expected));

  it("keeps the styles", () => expect(clip(spans, 5)[0]).toEqual({ text: "abc", style: "bold" }));
});

describe("wrap", () => {
  const spans = [{ text: "kind/name  ", style: "bold" as const }, { text: "Delete or change the other" }];

  it("breaks at spaces, and indents what follows", () => {
    expect(wrap(spans, 20, 4).map(plain)).toEqual(["kind/name  Delete or", "    change the other"]);
  });

  it("leaves a line alone that fits", () => {
    expect(wrap(spans, 80, 4).map(plain)).toEqual([plain(spans)]);
  });

  it("keeps a word whole that is wider than a line, and the styles", () => {
    expect(wrap([line("a bcdefgh", "dim")[0] ?? { text: "" }], 5, 1)).toEqual([
      [{ text: "a", style: "dim" }],
      [{ text: " " }, { text: "bcdefgh", style: "dim" }],
    ]);
  });
});

describe("columns", () => {
  it("aligns the cells and leaves no space at the end", () => {
    const rows = [
      [{ text: "KIND" }, { text: "NAME" }],
      [{ text: "IPPolicy" }, { text: "office" }],
    ];
    expect(columns(rows).map(plain)).toEqual(["  KIND      NAME", "  IPPolicy  office"]);
  });

  it("takes rows of unlike lengths", () => {
    expect(columns([[{ text: "a" }], [{ text: "bb" }, { text: "c" }]], 0).map(plain)).toEqual(["a", "bb  c"]);
  });
});

it("a line is one span", () => expect(plain(line("text", "dim"))).toBe("text"));
