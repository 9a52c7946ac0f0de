import { conditionOf, type ManagedObject } from "../../../objects/object.ts";
import { API_VERSION } from "../../../schema/contract.ts";
import { cellOf, type Node, titleOf, usersOf } from "../../graph/graph.ts";
import { keyOf } from "../../graph/output.ts";
import { sessionsOf } from "../../graph/sessions.ts";
import { kubernetesYAML, linesOf as linesOfYAML } from "../../terminal/kubernetes-yaml.ts";
import { shellWord } from "../../terminal/shell.ts";
import { troublesIn } from "../../tree/forest.ts";
import { byTitle } from "../../tree/items.ts";
import { leadsTo } from "../../tree/render.ts";
import { consequences } from "../../tree/users.ts";
import { eventsOf } from "../../why/events.ts";
import { causesOf } from "../../why/why.ts";
import { comparisonsOf } from "../reading/comparison.ts";
import type { View, Views } from "../reading/view.ts";
import { fieldsTable } from "../view/fields.ts";
import { type Html, html, link } from "../view/html.ts";
import { empty, linesOf, nodeLink, reasonLink, section, since, tableOf, wordsFor } from "../view/parts.ts";
import { badge, ownerText, stateOf } from "../view/state.ts";
import { adoption } from "./unmanaged.ts";

/** Everything that is known of one object or remote. Undefined: there is none with this key. */
export async function nodePage(
  view: View,
  views: Views,
  key: string,
): Promise<{ title: string; body: Html } | undefined> {
  const node = view.graph.nodes.find((one) => keyOf(one) === key);
  if (!node) return undefined;
  const { object } = node;
  const body = html`${head(node, view, key)}
${object ? await ofObject(node, object, view, views) : section("adopt", "To adopt it", adoption(node, view.account))}
${users(node, view)}
${uses(node, view)}
${object && section("manifest", "Manifest", linesOf("Manifest", linesOfYAML(manifestOf(object))))}`;
  return { title: cellOf(node), body };
}

function head(node: Node, { clusterID, graph, now }: View, key: string): Html {
  const { object, id, kind } = node;
  const trouble = troublesIn(graph).get(node);
  const owner = ownerText(node);
  return html`<section id="node" data-live><p class="line">${badge(stateOf(node, clusterID))} <span class="where">${object?.metadata.namespace}</span> ${id && html`<code data-copy>${id}</code>`}</p>
${isDrifted(object) && html`<p class="line">${badge("waiting", "differs from the account")} <a href="/drift">What differs</a></p>`}
${trouble && html`<p class="line">${badge(stateOf(trouble, clusterID), leadsTo(trouble))} ${nodeLink(keyOf(trouble), titleOf(trouble))}</p>`}
<p>${kind.summary}</p>
${owner && html`<p>Its mark names ${owner}.</p>`}
${object?.metadata.deletionTimestamp && html`<p>It is being deleted, for ${since(object.metadata.deletionTimestamp, now)}.</p>`}
<p class="line"><a href="${link("/topology", { from: key })}">What is below it</a> <a href="${link("/topology", { from: key, up: "1" })}">What uses it, as a picture</a></p></section>`;
}

const isDrifted = (object: ManagedObject | undefined): boolean =>
  conditionOf(object?.status, "Drifted")?.status === "True";

async function ofObject(node: Node, object: ManagedObject, view: View, views: Views): Promise<Html> {
  const { kind, metadata, status } = object;
  const words = wordsFor({ kind, namespace: metadata.namespace, name: metadata.name });
  const problems: string[] = [];
  const [events, { compared, problems: unread }] = await Promise.all([
    eventsOf(views.client, object, problems),
    comparisonsOf(views, view, [node]),
  ]);
  const conditions = (status?.conditions ?? []).map((one) => [
    one.type,
    one.status,
    reasonLink(one.reason),
    since(one.lastTransitionTime, view.now),
    one.message,
  ]);
  const told = events.slice(0, 20).map((one) => [since(one.last, view.now), one.count, one.reason, one.message]);
  const all = [...problems, ...unread];
  return html`${all.length > 0 && html`<ul class="partial">${all.map((one) => html`<li>${one}</li>`)}</ul>`}
${section("why", "Why", linesOf("Why", causesOf(node, { scope: view.scope, troubles: troublesIn(view.graph) })), `why ${words}`)}
${section("conditions", "Conditions", conditions.length === 0 ? empty("The operator has not looked at it yet.") : tableOf("Conditions", ["Type", "Status", "Reason", "Since", "Message"], conditions))}
${section("fields", "Spec beside account", compared[0] ? fieldsTable(compared[0], true) : empty("Not known: the account was not read."), `diff ${words}`)}
${section("events", "Events", told.length === 0 ? empty("There are no events.") : tableOf("Events", ["Last seen", "Count", "Reason", "Message"], told), `why ${words}`)}`;
}

function users(node: Node, { graph, scope, clusterID }: View): Html {
  const found = usersOf(node).sort(byTitle);
  const sessions = sessionsOf(graph.sessions, node.id).length;
  return section(
    "users",
    "Who uses it, and what would notice if it went",
    html`<ul>${consequences(node, scope, sessions).map((line) => html`<li>${line}</li>`)}</ul>
<ul class="nodes">${found.slice(0, 100).map(nodeItem(clusterID))}</ul>`,
    `users ${node.object ? wordsFor(aboutOf(node.object)) : shellWord(node.id ?? "")}`,
  );
}

const aboutOf = ({ kind, metadata: { namespace, name } }: ManagedObject) => ({ kind, namespace, name });

function uses(node: Node, { clusterID }: View): Html {
  const found = [...node.uses, ...node.listensAt].sort(byTitle);
  return section(
    "uses",
    "What it uses, and where it listens",
    found.length === 0
      ? empty("It uses nothing.")
      : html`<ul class="nodes">${found.slice(0, 100).map(nodeItem(clusterID))}</ul>`,
  );
}

const nodeItem =
  (clusterID: string | undefined) =>
  (node: Node): Html =>
    html`<li>${badge(stateOf(node, clusterID))} ${nodeLink(keyOf(node), titleOf(node))}</li>`;

/** What a person would keep of it: values of Secrets are in none of these fields. */
function manifestOf({ kind, metadata, spec }: ManagedObject): string {
  const { namespace, name, labels } = metadata;
  return kubernetesYAML({
    apiVersion: API_VERSION,
    kind,
    metadata: { namespace, name, ...(labels && { labels }) },
    spec,
  });
}
