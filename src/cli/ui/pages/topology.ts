import { kinds } from "../../../kinds/index.ts";
import { counted } from "../../../schema/nouns.ts";
import { flagOf, type Scope } from "../../cluster/scope.ts";
import type { Node } from "../../graph/graph.ts";
import { keyOf } from "../../graph/output.ts";
import { shellWord } from "../../terminal/shell.ts";
import { type Arrow, drawingOf } from "../../tree/drawing.ts";
import { forestOf } from "../../tree/forest.ts";
import type { Item } from "../../tree/items.ts";
import { renderTree } from "../../tree/render.ts";
import type { View } from "../reading/view.ts";
import { around, isFiltered, meantBy, OWN, type Wish, wishIn } from "../topology/filter.ts";
import { spread } from "../topology/hubs.ts";
import { itemsByKey, type Lane, lanesOf } from "../topology/lanes.ts";
import { layoutOf } from "../topology/layout.ts";
import { arrowTip, type Drawing, faceIn, isAddress, svgOf } from "../topology/svg.ts";
import { type Html, html, link } from "../view/html.ts";
import { accountTitle, commandOf, empty, linesOf, nodeLink, section } from "../view/parts.ts";
import { badge, type State, states } from "../view/state.ts";

/** Most tunnels, sessions, or session credentials in one place, as `tree` has it. */
const MOST = 20;

/** A command that names more than this is none that people copy. */
const MOST_NAMED = 8;

/** Of more boxes than this, only the first pictures are open. */
const OPEN = 400;

/** What hangs together, as a picture and as text. */
export async function topology(view: View, url: URL): Promise<Html> {
  const wish = wishIn(url);
  const { graph, scope, clusterID } = view;
  const from = wish.from ? graph.nodes.filter((node) => keyOf(node) === wish.from) : undefined;
  const options = { up: wish.isUp, most: MOST, scope };
  const forest = forestOf(graph, { ...options, from });
  const drawn = drawingOf(forest);
  const isMeant = meantBy(wish, view);
  const meant = drawn.items.filter(isMeant);
  const roots = isFiltered(wish) ? meant.flatMap((item) => (item.type === "node" ? item.node : [])) : from;
  const command = commandFor(roots, wish, scope);
  if (url.searchParams.has("as")) {
    const lines = renderTree(isFiltered(wish) ? forestOf(graph, { ...options, from: roots }) : forest, {});
    return section(
      "topology",
      titleOf(wish),
      roots?.length === 0 ? empty(noneLike(wish)) : linesOf("As text", lines),
      command,
    );
  }
  // of one node everything hangs together, and people look at just that
  const { items: all, arrows } = wish.from ? { ...drawn, items: itemsByKey(drawn.items) } : spread(drawn);
  const items = isFiltered(wish) ? around(all, arrows, isMeant) : all;
  const drawing = {
    items,
    faceOf: faceIn(clusterID, forest.troubles),
    isDim: (item: Item) => isFiltered(wish) && !isMeant(item),
  };
  return html`${filterForm(view, wish)}
<p class="legend">${(Object.keys(states) as State[]).map((state) => badge(state))}</p>
${section(
  "topology",
  titleOf(wish),
  html`<p class="count">${counted(meant.filter(isCounted).length, "is shown", "are shown")}${wish.from && ways(wish)}</p>
${aboutOthers(view)}
<p><a href="${asText(url)}">The same as text</a></p>
${items.size === 0 ? empty(noneLike(wish)) : await pictures(drawing, arrows)}
${!command && html`<p>As text with all that is not filtered: ${commandOf(`tree ${flagOf(scope)}`)}</p>`}`,
  command,
)}`;
}

/** What only counts others, or says that there are none, is nothing itself. */
const isCounted = ({ type }: Item): boolean => type !== "rest";

/** What is in other accounts has boxes, and nothing is known of it but what its objects say. */
function aboutOthers({ graph, own }: View): Html | undefined {
  const count = graph.nodes.length - own.nodes.length;
  if (count === 0) return undefined;
  const words = count === 1 ? "1 object is in another account" : `${count} objects are in other accounts`;
  return html`<p>${words}. Of these only the cluster is asked: ${commandOf("ui -n NAMESPACE --account NAME")} reads their account.</p>`;
}

/** What a filter means, with what is below it. */
const asText = ({ searchParams }: URL): string =>
  link("/topology", { ...Object.fromEntries(searchParams), as: "text" });

/** The command that prints the same. Undefined: it would have to name too many, or in several namespaces. */
function commandFor(roots: readonly Node[] | undefined, { isUp }: Wish, scope: Scope): string | undefined {
  if (!roots) return `tree ${flagOf(scope)}`;
  const namespaces = new Set(roots.flatMap(({ object }) => object?.metadata.namespace ?? []));
  if (roots.length === 0 || roots.length > MOST_NAMED || namespaces.size > 1) return undefined;
  const words = roots.map(({ kind, object, id = "" }) =>
    object ? `${kind.kind.toLowerCase()}/${shellWord(object.metadata.name)}` : shellWord(id),
  );
  return ["tree", ...words, ...[...namespaces].map((name) => `-n ${shellWord(name)}`), ...(isUp ? ["--up"] : [])].join(
    " ",
  );
}

const titleOf = ({ from, isUp }: Wish): string =>
  from ? `${isUp ? "What uses" : "What is below"} ${from}` : "What uses what";

const noneLike = (wish: Wish): string =>
  wish.from || isFiltered(wish) ? "Nothing here is like that." : "There is nothing in this account yet.";

const ways = ({ from, isUp }: Wish): Html =>
  html` · ${nodeLink(from, "Details")} · <a href="${link("/topology", { from, up: isUp ? "" : "1" })}">Follow the other way</a> · <a href="/topology">Show all</a>`;

/** Each lane is a picture that can be folded. Those with something that people look for come first. */
export async function pictures(drawing: Drawing, arrows: readonly Arrow[]): Promise<Html> {
  const lanes = lanesOf(drawing.items, arrows).map((lane) => ({ lane, troubles: countsByState(lane, drawing) }));
  const shown: Html[] = [];
  let count = 0;
  for (const { lane, troubles } of lanes.sort((one, other) => Number(isCalm(one)) - Number(isCalm(other)))) {
    count += lane.count;
    shown.push(await picture(lane, { drawing, troubles, isOpen: count <= OPEN || shown.length === 0 }));
  }
  return html`<div class="lanes">${arrowTip}${shown}</div>`;
}

/** States that people look for, with their words for one and for several. */
const looked = {
  attention: ["needs a person", "need a person"],
  waiting: ["waits", "wait"],
  deleting: ["is being deleted", "are being deleted"],
} as const satisfies Partial<Record<State, [one: string, many: string]>>;

/** How many boxes of a lane are in such a state. */
type Troubles = readonly (readonly [state: keyof typeof looked, count: number])[];

const isCalm = ({ troubles }: { troubles: Troubles }): boolean => troubles.length === 0;

function countsByState({ components }: Lane, { items, faceOf }: Drawing): Troubles {
  const keys = new Set(components.flatMap((one) => one.keys));
  // what many use has several boxes, and is counted once
  const shown = new Set([...keys].flatMap((key) => items.get(key) ?? []));
  const found = [...shown].map((item) => faceOf(item).state);
  return (Object.keys(looked) as (keyof typeof looked)[]).flatMap((state) => {
    const count = found.filter((one) => one === state).length;
    return count > 0 ? [[state, count] as const] : [];
  });
}

interface Picture {
  drawing: Drawing;
  troubles: Troubles;
  isOpen: boolean;
}

async function picture({ title, components, count }: Lane, { drawing, troubles, isOpen }: Picture): Promise<Html> {
  const places = await layoutOf(components, (key) => isAddress(drawing.items.get(key)));
  return html`<details class="lane"${isOpen && OPENED} data-lane="${title}"><summary>${title} <span class="count">${count}</span> ${troubles.map(([state, many]) => badge(state, counted(many, looked[state][0], looked[state][1])))}</summary>${svgOf(title, places, drawing)}</details>`;
}

const OPENED = html` open`;
const SELECTED = html` selected`;

function filterForm({ graph, read, summary }: View, wish: Wish): Html {
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
${
  (summary.accounts.length > 1 || wish.account) &&
  choice(
    "account",
    "Account",
    wish.account,
    summary.accounts.map((one) => [one.name ? `${one.namespace}/${one.name}` : OWN, accountTitle(one)]),
  )
}
${wish.from && html`<input type="hidden" name="from" value="${wish.from}">`}${wish.isUp && html`<input type="hidden" name="up" value="1">`}
<button>Filter</button> ${isFiltered(wish) && html`<a href="${link("/topology", { from: wish.from, up: wish.isUp ? "1" : "" })}">Clear</a>`}
</form>`;
}

const choice = (name: string, label: string, chosen: string, options: readonly (readonly [string, string])[]): Html =>
  html`<label>${label} <select name="${name}"><option value="">all</option>${options.map(
    ([value, words]) => html`<option value="${value}"${value === chosen && SELECTED}>${words}</option>`,
  )}</select></label>`;
