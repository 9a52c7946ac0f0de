import { expect, test } from "vitest";
import type { Item } from "../../tree/items.ts";
import { spread } from "./hubs.ts";
import { componentsOf } from "./layout.ts";

const item = (id: string): Item => ({ type: "part", kind: "", id });
const arrow = (from: string, to: string) => ({ from: `/${from}`, to: `/${to}`, label: undefined });

const users = Array.from({ length: 9 }, (_, index) => `user-${index}`);
const drawing = {
  items: [...users, "beside", "office", "below", "few"].map(item),
  arrows: [...users.map((user) => arrow(user, "office")), arrow("user-0", "beside"), arrow("beside", "office")],
};

test("what many use stands beside each group of its users", () => {
  const { items, arrows } = spread(drawing);
  const groups = componentsOf([...items.keys()], arrows).filter(({ keys }) => keys.length > 1);
  expect(groups).toHaveLength(9);
  for (const { keys } of groups) expect(keys.filter((key) => items.get(key) === drawing.items[10])).toHaveLength(1);
  expect(arrows).toHaveLength(drawing.arrows.length);
});

test("with what it uses it stands once more, and what few use stays in one place", () => {
  const more = [...drawing.arrows, arrow("office", "below"), arrow("user-1", "few"), arrow("user-2", "few")];
  const { items, arrows } = spread({ ...drawing, arrows: more });
  const groups = componentsOf([...items.keys()], arrows).map(({ keys }) => keys.toSorted());
  expect(groups).toContainEqual(["/below", "/office"]);
  expect(groups.find((keys) => keys.includes("/few"))).toEqual(expect.arrayContaining(["/user-1", "/user-2"]));
});
