import { flagOf } from "../../cluster/scope.ts";
import { readyOf } from "../../graph/graph.ts";
import { keyOf } from "../../graph/output.ts";
import { nextLookOf } from "../../why/next-look.ts";
import { comparisonsOf } from "../reading/comparison.ts";
import type { View, Views } from "../reading/view.ts";
import { fieldsTable } from "../view/fields.ts";
import { type Html, html } from "../view/html.ts";
import { commandOf, empty, objectLink, section, wordsFor } from "../view/parts.ts";
import { tinted } from "../view/state.ts";

/** Most objects that are compared at once. */
const MOST = 50;

/** What somebody else has changed in the account, field by field, and what becomes of it. */
export async function drift(view: View, views: Views): Promise<Html> {
  const { drifted } = view.summary;
  const byKey = new Map(view.graph.nodes.map((node) => [keyOf(node), node]));
  const nodes = drifted.slice(0, MOST).flatMap((one) => byKey.get(`${one.kind}/${one.namespace}/${one.name}`) ?? []);
  const { compared, problems } = await comparisonsOf(views, view, nodes);
  const items = drifted.slice(0, MOST).map((one) => {
    const node = byKey.get(`${one.kind}/${one.namespace}/${one.name}`);
    const found = compared.find(
      ({ kind, namespace, name }) => kind === one.kind && namespace === one.namespace && name === one.name,
    );
    const next = node?.object && nextLookOf(node.object);
    const isLeft = node?.object?.spec["driftPolicy"] === "Report";
    return html`<li><div class="line">${tinted("waiting", isLeft ? "left as it is" : "differs")} <strong>${objectLink(one)}</strong> <span class="where">${one.namespace}</span></div>
<p>${one.message}</p>
${found && fieldsTable(found, false)}
<p>${isLeft ? "Left: its driftPolicy is Report." : next ? `The operator looks again ${next}.` : node && readyOf(node).message}</p>
<div class="line">${commandOf(`diff ${wordsFor(one)}`)}</div></li>`;
  });
  return section(
    "drift",
    "Changed in the account by somebody else",
    html`${problems.length > 0 && html`<ul class="partial">${problems.map((one) => html`<li>${one}</li>`)}</ul>`}
${items.length === 0 ? empty("The account is as the objects say, as far as the operator has seen.") : html`<ul class="todo">${items}</ul>`}
${drifted.length > MOST && html`<p>And ${drifted.length - MOST} more: ${commandOf(`status ${flagOf(view.scope)} -o json`)}</p>`}`,
    `status ${flagOf(view.scope)}`,
  );
}
