import { expect, test } from "vitest";
import type { Item } from "../../tree/items.ts";
import { around } from "./filter.ts";

const item = (id: string): Item => ({ type: "part", kind: "", id });
const arrow = (from: string, to: string) => ({ from, to, label: undefined });

test("what is meant is shown with what leads to it and what it leads to, and not with all that hangs together", () => {
  const ids = ["domain", "edge", "policy", "other edge", "other domain", "rule", "alone"];
  const items = new Map(ids.map((id) => [id, item(id)]));
  const arrows = [
    arrow("domain", "edge"),
    arrow("edge", "policy"),
    arrow("policy", "rule"),
    arrow("other domain", "other edge"),
    arrow("other edge", "policy"),
    // a circle
    arrow("rule", "policy"),
  ];
  const shown = (...meant: string[]) => [
    ...around(items, arrows, (one) => one.type === "part" && meant.includes(one.id)).keys(),
  ];
  expect(shown("edge")).toEqual(["domain", "edge", "policy", "rule"]);
  expect(shown("policy")).toEqual(["domain", "edge", "policy", "other edge", "other domain", "rule"]);
  expect(shown("alone", "other domain")).toEqual(["policy", "other edge", "other domain", "rule", "alone"]);
  expect(shown()).toEqual([]);
});
