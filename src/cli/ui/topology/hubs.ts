import type { Arrow } from "../../tree/drawing.ts";
import { type Item, itemKey } from "../../tree/items.ts";
import { componentsOf } from "./layout.ts";

/** What more than so many use would tie everything that uses it into one picture. */
const MOST_USERS = 8;

/**
 * Shows what many use, such as the IP policy of an office, once beside each group of its users, and once with what it uses
 * itself. A picture then has what belongs together, and no line leads across all of it.
 */
export function spread({ items, arrows }: { items: readonly Item[]; arrows: readonly Arrow[] }): {
  items: Map<string, Item>;
  arrows: Arrow[];
} {
  const users = Map.groupBy(arrows, ({ to }) => to);
  const isHub = (key: string) => (users.get(key)?.length ?? 0) > MOST_USERS;
  const keys = items.map(itemKey);
  const groupOf = new Map<string, number>();
  const kept = arrows.filter(({ to }) => !isHub(to));
  for (const [index, component] of componentsOf(keys, kept).entries())
    for (const key of component.keys) groupOf.set(key, index);
  const all = new Map(items.map((item) => [itemKey(item), item]));
  const copied = arrows.map((arrow) => {
    const { from, to } = arrow;
    const hub = all.get(to);
    if (!hub || !isHub(to)) return arrow;
    const copy = `${to} ${groupOf.get(from)}`;
    all.set(copy, hub);
    return { ...arrow, to: copy };
  });
  // one that uses nothing is beside its users already
  const using = new Set(arrows.map(({ from }) => from));
  for (const key of users.keys()) if (isHub(key) && !using.has(key)) all.delete(key);
  return { items: all, arrows: copied };
}
