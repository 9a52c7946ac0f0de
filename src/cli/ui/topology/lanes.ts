import type { Arrow } from "../../tree/drawing.ts";
import { type Item, itemKey } from "../../tree/items.ts";
import { type Component, componentsOf } from "./layout.ts";

/** What is drawn in one picture. */
export interface Lane {
  title: string;
  components: Component[];
  count: number;
}

/** In this order. The categories are those of `kubectl get`. */
const parts = [
  ["", "Traffic"],
  ["tunnelgateway-certificates", "Certificates"],
  ["tunnelgateway-events", "Event pipelines"],
] as const;

/** Pictures by part of the account and by namespace. What hangs together is in one picture. */
export function lanesOf(items: ReadonlyMap<string, Item>, arrows: readonly Arrow[]): Lane[] {
  const lanes = new Map<string, Lane>();
  for (const component of componentsOf([...items.keys()], arrows)) {
    const title = titleOf(component.keys.flatMap((key) => items.get(key) ?? []));
    const lane = lanes.get(title) ?? { title, components: [], count: 0 };
    lanes.set(title, lane);
    lane.components.push(component);
    lane.count += component.keys.length;
  }
  return [...lanes.values()].sort((one, other) => (rank(one) < rank(other) ? -1 : 1));
}

function rank({ title }: Lane): string {
  const part = parts.findIndex(([, name]) => title.startsWith(name));
  return `${part} ${title.endsWith(ALONE) ? 1 : 0} ${title}`;
}

const ALONE = "without an object";

function titleOf(items: readonly Item[]): string {
  const nodes = items.flatMap((item) => (item.type === "node" ? item.node : []));
  const own = parts.findIndex(
    ([category]) =>
      category !== "" && nodes.length > 0 && nodes.every(({ kind }) => kind.categories.includes(category)),
  );
  const [, part] = parts[Math.max(own, 0)] as (typeof parts)[number];
  const where = nodes.find(({ object }) => object)?.object?.metadata.namespace;
  return where === undefined ? `${part} ${ALONE}` : `${part} in ${where}`;
}

export const itemsByKey = (items: readonly Item[]): Map<string, Item> =>
  new Map(items.map((item) => [itemKey(item), item]));
