import { describe, expect, it } from "vitest";
import * as z from "zod";
import { mark, ownTraits, traitsOf, unwrap } from "./traits.ts";

describe("mark", () => {
  it("returns a copy, so that a shared schema keeps its own traits", () => {
    const shared = z.string();
    const marked = mark(shared, { immutable: true });
    expect(traitsOf(shared)).toEqual({});
    expect(traitsOf(marked)).toEqual({ immutable: true });
  });

  it("adds to the traits that are there, and the later one wins", () => {
    const schema = mark(mark(z.string(), { immutable: true, sends: "a" }), { sends: "b" });
    expect(traitsOf(schema)).toEqual({ immutable: true, sends: "b" });
  });

  it("adds rules to those that are there", () => {
    const [first, second] = ["self.a", "self.b"].map((rule) => ({ rule, message: "must" }));
    const schema = mark(mark(z.string(), { rules: [first as never] }), { rules: [second as never] });
    expect(traitsOf(schema).rules).toEqual([first, second]);
  });
});

describe("a description", () => {
  it("is kept by a later mark", () => {
    expect(mark(z.string().describe("words"), { immutable: true }).description).toBe("words");
    expect(mark(z.string().optional().describe("words"), { immutable: true }).description).toBe("words");
  });

  it("is replaced by a later description", () => {
    expect(mark(z.string().describe("words"), { immutable: true }).describe("others").description).toBe("others");
  });
});

describe("traitsOf", () => {
  const schema = mark(mark(z.string(), { sends: "a", secret: true }).optional(), { sends: "b" }).default("x");

  it("includes the traits inside wrappers, and the outermost wins", () => {
    expect(traitsOf(schema)).toEqual({ sends: "b", secret: true });
  });

  it("gives a wrapper no own traits", () => {
    expect(ownTraits(schema)).toEqual({});
    expect(ownTraits(unwrap(schema))).toEqual({ sends: "a", secret: true });
  });

  it("is kept by a later description", () => {
    expect(traitsOf(mark(z.string(), { immutable: true }).describe("words"))).toEqual({ immutable: true });
  });
});
