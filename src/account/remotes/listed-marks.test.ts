import { beforeEach, describe, expect, it } from "vitest";
import type { Remote } from "../../gateway/resource.ts";
import { ListedMarks } from "./listed-marks.ts";

let marks: ListedMarks;
let known: Map<string, Remote>;

const row = (id: string, metadata?: string | null): Remote => ({
  id,
  ...(metadata !== undefined && { metadata }),
});
const rows = (...ids: string[]): Remote[] => ids.map((id) => row(id));
const many = Array.from({ length: 50 }, (_, index) => `i${index}`);
const list = (given: readonly Remote[]) => marks.ofList(given, (id) => known.get(id));
const answer = (remote: Remote): void => {
  known.set(remote.id, remote);
  marks.ofRead(remote, true);
};
const written = (remote: Remote): void => {
  known.set(remote.id, remote);
  marks.ofWrite(remote);
};
const unknown = (ids: readonly string[]) => ids.filter((id) => marks.isUnknown(id));

beforeEach(() => {
  marks = new ListedMarks();
  known = new Map();
});

describe("a list in which one row has metadata", () => {
  it.each(["", "text", null])("shows all metadata, so that rows without it have none: %j", (metadata) => {
    list(rows("a", "b"));
    expect(marks.areHidden).toBe(true);
    list([row("a"), row("b", metadata)]);
    expect([marks.areHidden, marks.isUnknown("a"), marks.isStale("a")]).toEqual([false, false, false]);
  });

  it("replaces what earlier answers have shown", () => {
    list(rows("a"));
    answer(row("a", "text"));
    expect(list([row("a"), row("b", "text")])).toEqual([row("a"), row("b", "text")]);
  });
});

it("an empty list hides nothing", () => {
  list([]);
  expect(marks.areHidden).toBe(false);
});

describe("a list without metadata", () => {
  it("leaves the mark of a row unknown until an answer shows it, which then stays known", () => {
    list(rows("a", "b"));
    answer(row("a"));
    expect(unknown(["a", "b"])).toEqual(["b"]);
    list(rows("a", "b"));
    expect(unknown(["a", "b"])).toEqual(["b"]);
    expect([marks.isStale("a"), marks.isStale("b")]).toEqual([true, true]);
    answer(row("a"));
    expect(marks.isStale("a")).toBe(false);
  });

  it("does not forget what an answer has shown", () => {
    answer(row("a", "text"));
    expect(list(rows("a", "b"))).toEqual([row("a", "text"), row("b")]);
  });

  it("forgets a remote that is gone", () => {
    list(rows("a"));
    answer(row("a"));
    list(rows("b"));
    list(rows("a"));
    expect(marks.isUnknown("a")).toBe(true);
  });
});

describe("a service whose answers to 20 GETs have no metadata either", () => {
  beforeEach(() => {
    list(rows(...many));
    for (const id of many.slice(0, 20)) answer(row(id));
  });

  it("leaves out unset members, so that no more GETs are sent", () => {
    expect(marks.areHidden).toBe(false);
    list(rows(...many));
    expect(unknown(many)).toEqual([]);
  });

  it("is asked no more when a write sets the metadata of a remote, listed or new", () => {
    for (const id of ["new", "i30"]) written(row(id, "text"));
    expect(marks.areHidden).toBe(false);
  });

  it("needs GETs again after an answer with metadata that is empty, which proves nothing else", () => {
    answer(row("i30", ""));
    expect(unknown(many)).toHaveLength(29);
    expect(marks.areSurelyHidden).toBe(false);
    list(rows(...many));
    expect(marks.areSurelyHidden).toBe(false);
  });

  it("needs as many GETs again after a list that showed metadata", () => {
    list([row("a", "text"), ...rows(...many)]);
    list(rows(...many));
    expect(unknown(many)).toHaveLength(50);
  });

  it("needs GETs again when an answer shows metadata that the list left out", () => {
    answer(row("i30", "text"));
    expect(unknown(many)).toHaveLength(29);
  });

  it("needs GETs again when a list leaves out metadata that an answer has shown", () => {
    written(row("new", "text"));
    list(rows("new", ...many));
    expect(unknown(many)).toHaveLength(30);
  });
});

it.each([
  ["a GET shows what the list left out", () => answer(row("i49", "text"))],
  [
    "a list leaves out what an answer has shown",
    () => {
      written(row("i49", "text"));
      list(rows(...many));
    },
  ],
])("no number of answers without is enough once %s", (_, see) => {
  list(rows(...many));
  see();
  expect(marks.areSurelyHidden).toBe(true);
  for (const id of many.slice(0, 30)) answer(row(id));
  expect(unknown(many)).toHaveLength(19);
  list([row("a", "")]);
  expect([marks.areHidden, marks.areSurelyHidden]).toEqual([false, false]);
});

it("an answer that was asked for before the latest list tells whose a remote was, not whose it is", () => {
  list(rows("a"));
  marks.ofRead(row("a", "text"), false);
  expect([marks.isUnknown("a"), marks.isStale("a")]).toEqual([false, true]);
});

it("what the latest list does not have may be marked as well", () => {
  list(rows("a", "b"));
  list(rows("a"));
  expect([marks.isUnknown("b"), marks.isStale("b")]).toEqual([true, true]);
});

it("counts no remote that no list left out", () => {
  list(rows("a"));
  for (const id of many) answer(row(id));
  expect(marks.isUnknown("a")).toBe(true);
});

it("counts a remote that is read often only once", () => {
  list(rows("a", "b"));
  for (let count = 0; count < 30; count += 1) answer(row("a"));
  expect(marks.isUnknown("b")).toBe(true);
});
