import { knownAs, readyOf } from "../../graph/graph.ts";
import { type Item, itemKey, modulesOf } from "../../tree/items.ts";
import { cellsOf } from "../../tree/render.ts";
import { type Html, html, link, type Part } from "../view/html.ts";
import { type State, stateOf, states } from "../view/state.ts";
import { BOX, type Places, type Point } from "./layout.ts";

const MARGIN = 12;
const LONGEST = { name: 23, about: 28 };

/** How an item is shown. */
export interface Face {
  state: State;
  /** Of a plan: what is done with it. */
  change?: { sign: string; words: string; name: string } | undefined;
}

/** What is drawn, and how. `isDim`: a filter does not mean it, and it only shows where the others stand. */
export interface Drawing {
  items: ReadonlyMap<string, Item>;
  faceOf: (item: Item) => Face;
  isDim: (item: Item) => boolean;
}

export const faceIn =
  (clusterID: string | undefined) =>
  (item: Item): Face => ({ state: item.type === "node" ? stateOf(item.node, clusterID) : "none" });

/** One picture, from left to right. Each box is a link, so that the keyboard reaches all of them. */
export function svgOf(label: string, { width, height, boxes, lines }: Places, drawing: Drawing): Html {
  const [w, h] = [Math.ceil(width + 2 * MARGIN), Math.ceil(height + 2 * MARGIN)];
  return html`<div class="canvas" tabindex="0" role="group" aria-label="${label}">
<svg class="graph" width="${w}" height="${h}" viewBox="${-MARGIN} ${-MARGIN} ${w} ${h}" role="group" aria-label="${label}">
<g class="lines" aria-hidden="true">${lines.map(lineOf)}</g>
${[...boxes].map(([key, point]) => boxOf(drawing.items.get(key), point, drawing))}
</svg></div>`;
}

function lineOf({ arrow, points }: Places["lines"][number]): Part {
  const [first, ...rest] = points;
  const last = rest.at(-1);
  if (!first || !last) return undefined;
  const path = rest.reduce(
    ({ text, from }, to) => {
      const middle = round((from.x + to.x) / 2);
      return {
        text: `${text}C${middle} ${round(from.y)} ${middle} ${round(to.y)} ${round(to.x)} ${round(to.y)}`,
        from: to,
      };
    },
    { text: `M${round(first.x)} ${round(first.y)}`, from: first },
  ).text;
  const label = points[Math.floor(points.length / 2)] ?? last;
  return html`<g data-from="${arrow.from}" data-to="${arrow.to}"><path d="${path}"/><path class="tip" d="M${round(last.x - 6)} ${round(last.y - 4)}L${round(last.x)} ${round(last.y)}L${round(last.x - 6)} ${round(last.y + 4)}"/>${
    arrow.label &&
    html`<text x="${round(label.x)}" y="${round(label.y - 4)}" text-anchor="middle">${arrow.label}</text>`
  }</g>`;
}

const round = (value: number): number => Math.round(value * 10) / 10;

function boxOf(item: Item | undefined, { x, y }: Point, { faceOf, isDim }: Drawing): Part {
  if (!item) return undefined;
  const { state, change } = faceOf(item);
  const { name, about } = wordsOf(item);
  const key = itemKey(item);
  const kind = item.type === "node" ? state : "part";
  const words = change?.words ?? states[state].label;
  const body = html`<title>${`${name}: ${about}, ${item.type === "node" ? words : ""}`}</title>
<rect width="${BOX.width}" height="${BOX.height}" rx="${item.type === "node" && item.node.kind.address ? 22 : 7}"/>
<text class="name" x="32" y="20">${short(name, LONGEST.name)}</text><text class="about" x="32" y="36">${short(about, LONGEST.about)}</text>
<text class="sign" x="17" y="28" text-anchor="middle">${change?.sign ?? states[state].sign}</text>`;
  const place = `translate(${round(x)} ${round(y)})`;
  const classes = ["box", kind, change && `change-${change.name}`, isDim(item) && "dim"].filter(Boolean).join(" ");
  if (item.type !== "node") return html`<g class="${classes}" transform="${place}" data-key="${key}">${body}</g>`;
  return html`<a href="${link("/node", { key })}" class="${classes}" transform="${place}" data-key="${key}">${body}</a>`;
}

/** With the words of `tree`. */
export function wordsOf(item: Item): { name: string; about: string } {
  if (item.type !== "node") {
    const [name = "", , , about = ""] = cellsOf(item);
    return { name, about };
  }
  const { node } = item;
  const { kind, object } = node;
  const on = modulesOf(node)
    .filter(({ isOn }) => isOn)
    .map((module) => module.name);
  const { status, reason } = readyOf(node);
  const state = object && status !== "True" ? [reason || "Pending"] : [];
  const name = object ? object.metadata.name : knownAs(kind, node.remote) || (node.id ?? "");
  return { name, about: [kind.kind, ...state, ...on].join(" · ") };
}

const short = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
