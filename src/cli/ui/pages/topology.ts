import { kinds } from "../../../kinds/index.ts";
import { keyOf } from "../../graph/output.ts";
import { shellWord } from "../../terminal/shell.ts";
import { type Arrow, drawingOf } from "../../tree/drawing.ts";
import { forestOf } from "../../tree/forest.ts";
import type { Item } from "../../tree/items.ts";
import { renderTree } from "../../tree/render.ts";
import type { View } from "../reading/view.ts";
import { around, isFiltered, meantBy, type Wish, wishIn } from "../topology/filter.ts";
import { itemsByKey, type Lane, lanesOf } from "../topology/lanes.ts";
import { layoutOf } from "../topology/layout.ts";
import { type Drawing, faceIn, svgOf } from "../topology/svg.ts";
import { type Html, html, link } from "../view/html.ts";
import { empty, linesOf, nodeLink, section } from "../view/parts.ts";
import { badge, type State, states } from "../view/state.ts";

/** Most tunnels, sessions, or session credentials in one place, as `tree` has it. */
const MOST = 20;

/** Of more boxes than this, only the first pictures are open. */
const OPEN = 400;

/** What hangs together, as a picture and as text. */
export async function topology(view: View, url: URL): Promise<Html> {
  const wish = wishIn(url);
  const { graph, scope, clusterID } = view;
  const from = wish.from ? graph.nodes.filter((node) => keyOf(node) === wish.from) : undefined;
  const forest = forestOf(graph, { up: wish.isUp, from, most: MOST, scope });
  const { items: all, arrows } = drawingOf(forest);
  const isMeant = meantBy(wish, clusterID);
  const items = isFiltered(wish) ? around(itemsByKey(all), arrows, isMeant) : itemsByKey(all);
  const drawing = { items, faceOf: faceIn(clusterID), isDim: (item: Item) => isFiltered(wish) && !isMeant(item) };
  const found = [...items.values()].filter(isMeant).length;
  return html`${filterForm(view, wish)}
<p class="legend">${(Object.keys(states) as State[]).map((state) => badge(state))}</p>
${section(
  "topology",
  titleOf(wish),
  html`<p class="count">${found === 1 ? "1 is shown" : `${found} are shown`}${wish.from && ways(wish)}</p>
${items.size === 0 ? empty(noneLike(wish)) : await pictures(drawing, arrows)}
<details><summary>The same as text</summary>${linesOf("The same as text", renderTree(forest, {}))}</details>`,
  wish.from ? `tree ${shellWord(wish.from.toLowerCase())}${wish.isUp ? " --up" : ""}` : "tree -A",
)}`;
}

const titleOf = ({ from, isUp }: Wish): string =>
  from ? `${isUp ? "What uses" : "What is below"} ${from}` : "What uses what";

const noneLike = (wish: Wish): string =>
  wish.from || isFiltered(wish) ? "Nothing here is like that." : "There is nothing in this account yet.";

const ways = ({ from, isUp }: Wish): Html =>
  html` · ${nodeLink(from, "Details")} · <a href="${link("/topology", { from, up: isUp ? "" : "1" })}">Follow the other way</a> · <a href="/topology">Show all</a>`;

/** Each lane is a picture that can be folded. */
export async function pictures(drawing: Drawing, arrows: readonly Arrow[]): Promise<Html> {
  const shown: Html[] = [];
  let count = 0;
  for (const lane of lanesOf(drawing.items, arrows)) {
    count += lane.count;
    shown.push(await picture(lane, drawing, count <= OPEN || shown.length === 0));
  }
  return html`<div class="lanes">${shown}</div>`;
}

async function picture({ title, components, count }: Lane, drawing: Drawing, isOpen: boolean): Promise<Html> {
  const places = await layoutOf(components);
  return html`<details class="lane"${isOpen && OPENED} data-lane="${title}"><summary>${title} <span class="count">${count}</span></summary>${svgOf(title, places, drawing)}</details>`;
}

const OPENED = html` open`;
const SELECTED = html` selected`;

function filterForm({ graph, read }: View, wish: Wish): Html {
  const present = new Set(graph.nodes.map(({ kind }) => kind.kind));
  const names = kinds.map(({ kind }) => kind).filter((kind) => present.has(kind));
  const namespaces = new Set([...read.objects.values()].flat().map(({ metadata }) => metadata.namespace));
  return html`<form class="filter" method="get" action="/topology" role="search" aria-label="Filter">
<label>Text <input type="search" name="text" value="${wish.text}" maxlength="200" accesskey="f"></label>
${choice(
  "kind",
  "Kind",
  wish.kind,
  names.map((name) => [name, name]),
)}
${choice(
  "namespace",
  "Namespace",
  wish.namespace,
  [...namespaces].sort().map((name) => [name, name]),
)}
${choice(
  "state",
  "State",
  wish.state,
  (Object.keys(states) as State[]).map((state) => [state, states[state].label]),
)}
${wish.from && html`<input type="hidden" name="from" value="${wish.from}">`}${wish.isUp && html`<input type="hidden" name="up" value="1">`}
<button>Filter</button> ${isFiltered(wish) && html`<a href="${link("/topology", { from: wish.from, up: wish.isUp ? "1" : "" })}">Clear</a>`}
</form>`;
}

const choice = (name: string, label: string, chosen: string, options: readonly (readonly [string, string])[]): Html =>
  html`<label>${label} <select name="${name}"><option value="">all</option>${options.map(
    ([value, words]) => html`<option value="${value}"${value === chosen && SELECTED}>${words}</option>`,
  )}</select></label>`;
