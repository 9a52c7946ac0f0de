import { kinds } from "../../../kinds/index.ts";
import type { Action, Block } from "../../../plan/blocks.ts";
import { graphOf } from "../../graph/graph.ts";
import { noManifests, parseFile } from "../../plan/manifests.ts";
import { notesOf, planOf } from "../../plan/plan.ts";
import { renderPlan, SIGNS, sumsOf } from "../../plan/render.ts";
import { drawingOf } from "../../tree/drawing.ts";
import { forestOf } from "../../tree/forest.ts";
import type { Item } from "../../tree/items.ts";
import { LARGEST_BYTES } from "../http/server.ts";
import type { View, Views } from "../reading/view.ts";
import { around } from "../topology/filter.ts";
import { itemsByKey } from "../topology/lanes.ts";
import { type Face, faceIn } from "../topology/svg.ts";
import { type Html, html } from "../view/html.ts";
import { linesOf, section } from "../view/parts.ts";
import { pictures } from "./topology.ts";

const COMMAND = "plan -R -f DIR/";

/** Where files are dropped. It is a form, so it needs no script. */
export const planForm = (): Html =>
  section(
    "files",
    "What would these manifests change?",
    html`<form method="post" action="/plan" enctype="multipart/form-data" class="drop" data-most="${LARGEST_BYTES}">
<label for="manifests">Files with manifests, YAML or JSON. Files and folders can be dropped here. They stay in the memory of this command, and nothing is applied.</label>
<input id="manifests" type="file" name="manifests" multiple accept=".yaml,.yml,.json">
<label for="folder">Or a folder, with all folders in it: its .yaml, .yml and .json files</label>
<input id="folder" type="file" name="folder" multiple webkitdirectory>
<p class="partial" role="alert" hidden>This is more than ${LARGEST_BYTES / 1_000_000} MB, or cannot be read. Drop less, or plan it with the command.</p>
<button>Plan</button></form>`,
    COMMAND,
  );

/** The plan of files that were sent, drawn and as text. Throws CommandError. */
export async function planned(view: View, views: Views, files: readonly File[]): Promise<Html> {
  const manifests = noManifests();
  for (const file of files.filter(({ size }) => size > 0))
    parseFile(new Uint8Array(await file.arrayBuffer()), file.name, manifests);
  const silent = { say: () => {}, warn: () => {} };
  const { blocks, problems, objects, others, ...more } = await planOf(
    manifests,
    { ...views.flags, isGiven: true },
    silent,
  );
  const complete = problems.length === 0;
  const sums = Object.entries(sumsOf(blocks)).map(
    ([action, count]) =>
      html`<span class="badge change-${action}"><span aria-hidden="true">${SIGNS[action as Action].sign}</span> ${count} ${SIGNS[action as Action].done}</span> `,
  );
  const text = renderPlan(blocks, {}, { complete, count: objects.length, others });
  return html`${!complete && html`<div class="partial" role="alert"><strong>This is only a part:</strong><ul>${problems.map((one) => html`<li>${one}</li>`)}</ul></div>`}
${section("plan", "Plan", html`<p>${sums}</p>${notesOf({ blocks, others, ...more }, views.flags, "").map((note) => html`<p>${note}</p>`)}${blocks.length > 0 && (await picture(view, blocks, objects))}${linesOf("Plan as text", text)}`, COMMAND)}
${planForm()}`;
}

type Objects = Awaited<ReturnType<typeof planOf>>["objects"];

/** What hangs together with something that changes, as it is once the manifests are applied. */
function picture({ account, clusterID }: View, blocks: readonly Block[], objects: Objects): Promise<Html> {
  const byKind = Map.groupBy(objects, ({ kind }) => kind);
  const ours = new Map(kinds.map((kind) => [kind, byKind.get(kind.kind) ?? []]));
  const { items, arrows } = drawingOf(
    forestOf(graphOf(account.found?.account.remotes ?? new Map(), ours), { most: 20 }),
  );
  const changes = new Map(blocks.map((block) => [`${block.kind}/${block.namespace}/${block.name}`, block]));
  const changeOf = (item: Item) => {
    const object = item.type === "node" ? item.node.object : undefined;
    return object && changes.get(`${object.kind}/${object.metadata.namespace}/${object.metadata.name}`);
  };
  const faceOf = (item: Item): Face => {
    const block = changeOf(item);
    const face = faceIn(clusterID)(item);
    return block ? { ...face, change: faceOfChange(block) } : face;
  };
  const isMeant = (item: Item) => changeOf(item) !== undefined;
  return pictures(
    { items: around(itemsByKey(items), arrows, isMeant), faceOf, isDim: (item) => !isMeant(item) },
    arrows,
  );
}

const faceOfChange = ({ action, interrupts }: Block): Face["change"] => {
  const { sign, done } = SIGNS[action];
  return { sign, name: action, words: interrupts ? `${done}, interrupts traffic` : done };
};
