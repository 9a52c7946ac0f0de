import { plain } from "../terminal/plain.ts";
import { type Forest, type Item, itemKey } from "./items.ts";
import { colourOf } from "./render.ts";

/** An arrow of a drawing. `label`: the module by which one uses the other. */
export interface Arrow {
  from: string;
  to: string;
  label: string | undefined;
}

/** The graph in the language of Graphviz. Nodes that are not Ready are red, and remotes without an object are grey. */
export function dot(forest: Forest): string[] {
  const { arrows, items } = drawingOf(forest);
  const styled = items.flatMap((item) => {
    const colour = item.type === "node" && colourOf(item);
    return colour ? `  ${quoted(itemKey(item))} [color=${colour}, fontcolor=${colour}];` : [];
  });
  const alone = withoutArrow(items, arrows).map((key) => `  ${quoted(key)};`);
  const lines = arrows.map(
    ({ from, to, label }) => `  ${quoted(from)} -> ${quoted(to)}${label ? ` [label=${quoted(label)}]` : ""};`,
  );
  return ["digraph account {", ...alone, ...lines, ...styled, "}"];
}

/** The graph in the language of Mermaid, in the same colours. */
export function mermaid(forest: Forest): string[] {
  const { arrows, items } = drawingOf(forest);
  const lines = arrows.map(({ from, to, label }) => `  ${box(from)} -->${label ? `|${label}|` : ""} ${box(to)}`);
  const styled = items.flatMap((item) => {
    const colour = item.type === "node" && colourOf(item);
    return colour ? `  style ${idOf(itemKey(item))} color:${colour},stroke:${colour}` : [];
  });
  const alone = withoutArrow(items, arrows).map((key) => `  ${box(key)}`);
  return ["flowchart LR", ...alone, ...lines, ...styled];
}

function withoutArrow(items: readonly Item[], arrows: readonly Arrow[]): string[] {
  const ends = new Set(arrows.flatMap(({ from, to }) => [from, to]));
  return items.map(itemKey).filter((key) => !ends.has(key));
}

const idOf = (key: string): string => key.replaceAll(/\W/g, "_");

/** A text of Mermaid, which has HTML and entities in its labels. */
const box = (key: string): string =>
  `${idOf(key)}["${plain(key).replaceAll(/[#&<>"]/g, (character) => `#${character.charCodeAt(0)};`)}"]`;

/** A text of Graphviz. Ids come from the account, and may have anything in them. */
const quoted = (key: string): string => `"${plain(key).replaceAll(/["\\]/g, "\\$&")}"`;

/** Each item and arrow once. A module is no item of a drawing: it is the label of its arrows. */
export function drawingOf({ roots, below }: Forest): { items: Item[]; arrows: Arrow[] } {
  const items = new Map<string, Item>();
  const arrows: Arrow[] = [];
  const open: { item: Item; arrow?: Arrow }[] = roots.toReversed().map((item) => ({ item }));
  // No recursion: other people decide how deep this is.
  for (let next = open.pop(); next; next = open.pop()) {
    const { item, arrow } = next;
    const from = itemKey(item);
    if (arrow) arrows.push(arrow);
    if (items.has(from)) continue;
    items.set(from, item);
    const under = below(item).flatMap((one) => through(one, below));
    open.push(
      ...under.map(({ child, label }) => ({ item: child, arrow: { from, to: itemKey(child), label } })).reverse(),
    );
  }
  return { items: [...items.values()], arrows };
}

function through(under: Item, below: Forest["below"]): { child: Item; label: string | undefined }[] {
  if (under.type === "module") return below(under).map((child) => ({ child, label: under.module.name }));
  return [{ child: under, label: under.type === "node" ? (under.through ?? under.place) : undefined }];
}
