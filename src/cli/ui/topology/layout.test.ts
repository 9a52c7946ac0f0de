import { expect, test } from "vitest";
import { BOX } from "../view/style.ts";
import { componentsOf, layoutOf } from "./layout.ts";

const arrow = (from: string, to: string) => ({ from, to, label: undefined });

test("what hangs together stands together, in the order of the keys", () => {
  const components = componentsOf(["a", "b", "c", "d", "e"], [arrow("a", "c"), arrow("d", "c"), arrow("e", "gone")]);
  expect(components.map(({ keys }) => keys.toSorted())).toEqual([["a", "c", "d"], ["b"], ["e"]]);
  expect(components[0]?.arrows).toEqual([arrow("a", "c"), arrow("d", "c")]);
});

test("what is used stands right of its user, and no box covers another", async () => {
  const keys = ["a", "b", "c", "d", "alone", "alone too"];
  const { boxes, lines, width, height } = await layoutOf(
    componentsOf(keys, [arrow("a", "b"), arrow("a", "c"), arrow("b", "d"), arrow("d", "a"), arrow("a", "b")]),
  );
  expect([...boxes.keys()].sort()).toEqual(keys.toSorted());
  expect(lines).toHaveLength(5);
  expect(boxes.get("b")?.x).toBeGreaterThanOrEqual((boxes.get("a")?.x ?? 0) + BOX.width);
  const all = [...boxes.values()];
  for (const [index, one] of all.entries())
    for (const other of all.slice(index + 1)) {
      const isApart = Math.abs(one.x - other.x) >= BOX.width || Math.abs(one.y - other.y) >= BOX.height;
      expect(isApart).toBe(true);
    }
  expect(Math.max(...all.map(({ x }) => x + BOX.width))).toBeLessThanOrEqual(Math.ceil(width));
  expect(Math.max(...all.map(({ y }) => y + BOX.height))).toBeLessThanOrEqual(Math.ceil(height));
});

test("domains and addresses are in the first column, and what has none is beside the edges", async () => {
  const arrows = [
    ...[arrow("domain", "edge"), arrow("edge", "route"), arrow("route", "backend"), arrow("address", "tcp")],
    ...[arrow("tcp", "backend"), arrow("without", "backend"), arrow("route", "policy"), arrow("without", "policy")],
  ];
  const keys = [...new Set(arrows.flatMap(({ from, to }) => [from, to]))];
  const { boxes } = await layoutOf(componentsOf(keys, arrows), (key) => key === "domain" || key === "address");
  const columns = Map.groupBy(keys, (key) => boxes.get(key)?.x ?? 0);
  expect([...columns].sort(([one], [other]) => one - other).map(([, names]) => names.toSorted())).toEqual([
    ["address", "domain"],
    ["edge", "tcp", "without"],
    ["route"],
    ["backend", "policy"],
  ]);
});
