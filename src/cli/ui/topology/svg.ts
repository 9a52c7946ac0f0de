import { knownAs, type Node, readyOf, titleOf } from "../../graph/graph.ts";
import { type Forest, type Item, itemKey, modulesOf } from "../../tree/items.ts";
import { cellsOf, leadsTo } from "../../tree/render.ts";
import { type Html, html, link, type Part } from "../view/html.ts";
import { type State, stateOf, states } from "../view/state.ts";
import type { Places, Point } from "./layout.ts";

const MARGIN = 12;
const LONGEST = { name: 20, about: 27, trouble: 25 };

/** How an item is shown. */
export interface Face {
  state: State;
  /** Of a plan: what is done with it. */
  change?: { sign: string; words: string; name: string } | undefined;
  /** It is Ready, and leads to this, which is not. */
  trouble?: { state: State; words: string; title: string } | undefined;
}

/** What is drawn, and how. `isDim`: a filter does not mean it, and it only shows where the others stand. */
export interface Drawing {
  items: ReadonlyMap<string, Item>;
  faceOf: (item: Item) => Face;
  isDim: (item: Item) => boolean;
}

export const faceIn =
  (clusterID: string | undefined, troubles?: Forest["troubles"]) =>
  (item: Item): Face => {
    if (item.type !== "node") return { state: "none" };
    const trouble = troubles?.get(item.node);
    return { state: stateOf(item.node, clusterID), trouble: trouble && troubleOf(trouble, clusterID) };
  };

const troubleOf = (node: Node, clusterID: string | undefined): Face["trouble"] => ({
  state: stateOf(node, clusterID),
  words: leadsTo(node),
  title: `leads to ${titleOf(node)}: ${readyOf(node).reason}`,
});

/** The tip of all arrows of a page: pictures refer to it by its id. */
export const arrowTip = html`<svg class="tip" width="0" height="0" aria-hidden="true"><marker id="tip" orient="auto" refX="6" refY="4" markerWidth="7" markerHeight="8" markerUnits="userSpaceOnUse"><path d="M0 0L6 4L0 8"/></marker></svg>`;

/** One picture, from left to right. Each box is a link, so that the keyboard reaches all of them. */
export function svgOf(label: string, { width, height, boxes, lines }: Places, drawing: Drawing): Html {
  const numbers = new Map([...boxes.keys()].map((key, index) => [key, index]));
  const [w, h] = [Math.ceil(width + 2 * MARGIN), Math.ceil(height + 2 * MARGIN)];
  return html`<div class="canvas" tabindex="0" role="group" aria-label="${label}">
<svg class="graph" width="${w}" height="${h}" viewBox="${-MARGIN} ${-MARGIN} ${w} ${h}" role="group" aria-label="${label}">
<g class="lines" aria-hidden="true" marker-end="url(#tip)">${lines.map((line) => lineOf(line, numbers))}</g>
${[...boxes].map(([key, point], index) => boxOf(drawing.items.get(key), { ...point, index }, drawing))}
</svg></div>`;
}

function lineOf({ arrow, points }: Places["lines"][number], numbers: ReadonlyMap<string, number>): Part {
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
  return html`<g data-from="${numbers.get(arrow.from)}" data-to="${numbers.get(arrow.to)}"><path d="${path}"/>${
    arrow.label && html`<text x="${round(label.x)}" y="${round(label.y - 4)}">${arrow.label}</text>`
  }</g>`;
}

const round = (value: number): number => Math.round(value * 10) / 10;

function boxOf(item: Item | undefined, { x, y, index }: Point & { index: number }, { faceOf, isDim }: Drawing): Part {
  if (!item) return undefined;
  const { state, change, trouble } = faceOf(item);
  const { name, about } = wordsOf(item);
  const kind = item.type === "node" ? state : "part";
  const words = [change?.words ?? states[state].label, trouble?.title ?? []].flat().join(", ");
  const body = html`<title>${`${name}: ${about}, ${item.type === "node" ? words : ""}`}</title>
<rect/>
<text class="name" x="32" y="20">${short(name, LONGEST.name)}</text><text class="about" x="32" y="36">${short(about, LONGEST.about)}</text>
<text class="sign" x="17" y="28">${change?.sign ?? states[state].sign}</text>${
    trouble &&
    html`<text class="trouble" x="32" y="4">${states[trouble.state].sign} ${short(trouble.words, LONGEST.trouble)}</text>`
  }`;
  const place = `translate(${round(x)} ${round(y)})`;
  const classes = [
    "box",
    kind,
    isAddress(item) && "address",
    change && `change-${change.name}`,
    trouble && `to-${trouble.state}`,
    isDim(item) && "dim",
  ]
    .filter(Boolean)
    .join(" ");
  if (item.type !== "node") return html`<g class="${classes}" transform="${place}" data-box="${index}">${body}</g>`;
  return html`<a href="${link("/node", { key: itemKey(item) })}" class="${classes}" transform="${place}" data-box="${index}">${body}</a>`;
}

/** Whether this is a domain or an address, where traffic comes in. */
export const isAddress = (item: Item | undefined): boolean =>
  item?.type === "node" && item.node.kind.address !== undefined;

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
