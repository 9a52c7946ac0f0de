import type { ManagedObject } from "../../../objects/object.ts";
import { counted } from "../../../schema/nouns.ts";
import { flagOf, includes } from "../../cluster/scope.ts";
import { type Node, readyOf, titleOf } from "../../graph/graph.ts";
import { keyOf } from "../../graph/output.ts";
import { SOON_MS } from "../../status/render.ts";
import type { Unfinished } from "../../status/summary.ts";
import { ageOf } from "../../terminal/age.ts";
import { silentIn, troublesIn } from "../../tree/forest.ts";
import { byTitle } from "../../tree/items.ts";
import type { View } from "../reading/view.ts";
import { type Html, html } from "../view/html.ts";
import {
  accountTitle,
  commandOf,
  empty,
  nodeLink,
  objectLink,
  reasonLink,
  section,
  since,
  tableOf,
  wordsFor,
} from "../view/parts.ts";
import { plotOf } from "../view/plot.ts";
import { badge, stateOf } from "../view/state.ts";
import { unmanagedIn } from "./unmanaged.ts";

/** Most rows of one list. */
const MOST = 100;

/** The first page: what is well, what needs a person, and what goes on by itself. */
export function overview(view: View): Html {
  const { summary, now } = view;
  const status = `status ${flagOf(view.scope)}`;
  return html`${section("health", "Health", health(view), status)}
${section("attention", "Needs a person", attention(summary.attention.toReversed(), now, beside(view)), status)}
<div class="trio">
${section("waiting", "Waits", unfinished("Waits, oldest first", waitingOf(view), now, "Nothing waits"), status)}
${section("paused", "Paused", paused(view))}
${section("deleting", "Being deleted", deleting(view))}
</div>
${summary.unsynced.length > 0 && section("unsynced", "Not synced", unfinished("Not synced, oldest first", summary.unsynced, now, ""), status)}
${section("objects", "Objects", objects(view), `tree ${flagOf(view.scope)}`)}`;
}

function health({ summary, now, samples }: View): Html {
  const { accounts, installations } = summary;
  return html`<div class="cards">
${accounts.map(
  (account) => html`<div class="card"><h3>${accountTitle(account)}</h3>
<p>${accountBadge(account)}</p>
<dl><dt>Objects</dt><dd>${account.objects}</dd>
<dt>Last complete list</dt><dd>${account.lastList === undefined ? "not known" : html`${since(account.lastList, now)} ago`}</dd>
<dt>Requests in the last minute</dt><dd>${trafficOf(account)}</dd>
${account.pausedUntil && html`<dt>Paused by the service until</dt><dd>${account.pausedUntil}</dd>`}</dl>
${plotOf(samples.of(account), { now, limit: account.requestsPerMinute })}</div>`,
)}
${installations.map(
  ({ namespace, leader, isLeading, renewed }) => html`<div class="card"><h3>Operator in ${namespace}</h3>
<p>${isLeading ? badge("ready", "leads") : badge("attention", "does not lead")}</p>
<dl><dt>Leader</dt><dd>${leader || "nobody"}</dd><dt>Lease renewed</dt><dd>${since(renewed, now)} ago</dd></dl></div>`,
)}
${installations.length === 0 && html`<div class="card"><h3>Operator</h3><p>${badge("unknown", "no Lease found")}</p><p>An operator without leader election says nothing of itself.</p></div>`}
</div>`;
}

type Account = View["summary"]["accounts"][number];

/** Grey where nothing is known: it may be well, and nobody has looked. */
function accountBadge({ ready, reason, since: from }: Account): Html {
  if (ready === "True") return badge("ready", "reachable, key accepted");
  if (ready === "False") return html`${badge("attention", reason)}${from && html` since <time>${from}</time>`}`;
  return badge("unknown");
}

const trafficOf = ({ requestsInLastMinute, requestsPerMinute }: Account): string => {
  if (requestsInLastMinute === undefined) return "not known";
  return requestsPerMinute ? `${requestsInLastMinute} of ${requestsPerMinute}` : String(requestsInLastMinute);
};

const attention = (found: readonly Unfinished[], now: number, others: Html | undefined): Html =>
  found.length === 0
    ? (others && html`<p>No object needs you. These may:</p>${others}`) || empty("Nothing needs you.")
    : html`<ul class="todo">${found.slice(0, MOST).map(
        (one) => html`<li><div class="line">${badge("attention", one.reason)} <strong>${objectLink(one)}</strong>
<span class="where">${one.namespace}</span> <span class="age">for ${since(one.since, now)}</span></div>
<p>${one.message}</p>
<div class="line">${commandOf(`why ${wordsFor(one)}`)} ${reasonLink(one.reason, `What ${one.reason} means`)}</div></li>`,
      )}</ul>${more(found.length)}${others}`;

/** What is no fault of an object, and a person may want to know all the same. */
function beside(view: View): Html | undefined {
  const { summary, graph, now } = view;
  const left = summary.certificates.map(({ until }) => Date.parse(until) - now);
  const ended = left.filter((ms) => ms < 0).length;
  const ending = left.filter((ms) => ms < SOON_MS).length - ended;
  const unmanaged = unmanagedIn(view);
  const lines = [
    ...downIn(view),
    silent(graph),
    toPage("/drift", summary.drifted.length, "object differs from the account", "objects differ from the account"),
    toPage("/certificates", ended, "certificate has ended", "certificates have ended"),
    toPage("/certificates", ending, "certificate ends within 30 days", "certificates end within 30 days"),
    toPage("/unmanaged", unmanaged, "resource has no object", "resources have no object"),
  ].filter((line) => line !== undefined);
  return lines.length === 0 ? undefined : html`<ul class="beside">${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}

const toPage = (path: string, count: number, one: string, many: string): Html | undefined =>
  count === 0 ? undefined : html`<a href="${path}">${counted(count, one, many)}</a>`;

/** Domains and addresses that are Ready themselves, and lead to what is not. */
function downIn({ graph, clusterID }: View): Html[] {
  const found = [...troublesIn(graph)].filter(([{ kind }]) => kind.address !== undefined);
  const shown = found
    .slice(0, MOST_DOWN)
    .map(
      ([node, trouble]) =>
        html`${nodeLink(keyOf(node), titleOf(node))} ${whereOf(node)} ${badge(stateOf(trouble, clusterID), "leads to")} ${nodeLink(keyOf(trouble), titleOf(trouble))}: ${reasonLink(readyOf(trouble).reason)}`,
    );
  const rest = found.length - shown.length;
  return rest > 0
    ? [
        ...shown,
        html`${counted(rest, "more domain or address leads", "more domains and addresses lead")} to what is not Ready`,
      ]
    : shown;
}

const MOST_DOWN = 10;

/** Domains and addresses behind which no agent is, with the first by name. */
function silent(graph: View["graph"]): Html | undefined {
  const found = silentIn(graph).sort(byTitle);
  if (found.length === 0) return undefined;
  const first = found
    .slice(0, MOST_NAMED)
    .map((node, index) => html`${index > 0 && ", "}${nodeLink(keyOf(node), titleOf(node))} ${whereOf(node)}`);
  const rest = found.length - first.length;
  return html`${counted(found.length, "domain or address has", "domains and addresses have")} no tunnel behind ${found.length === 1 ? "it" : "them"}: ${first}${rest > 0 && ` and ${rest} more`}`;
}

const MOST_NAMED = 3;

const whereOf = ({ object }: Node): Html => html`<span class="where">${object?.metadata.namespace}</span>`;

const unfinished = (label: string, found: readonly Unfinished[], now: number, none: string): Html =>
  found.length === 0
    ? empty(`${none}.`)
    : html`${tableOf(
        label,
        ["Object", "Namespace", "Since", "Reason", "Message"],
        found
          .slice(0, MOST)
          .map((one) => [objectLink(one), one.namespace, since(one.since, now), reasonLink(one.reason), one.message]),
      )}${more(found.length)}`;

const more = (count: number): Html | undefined =>
  count > MOST ? html`<p>And ${count - MOST} more: ${commandOf("status -A -o json")}</p>` : undefined;

function paused({ summary: { paused: found }, now }: View): Html {
  if (found.length === 0) return empty("Nothing is paused.");
  const rows = found.slice(0, MOST).map((one) => [objectLink(one), one.namespace, since(one.since, now), one.reason]);
  return html`${tableOf("Paused", ["Object", "Namespace", "Since", "Reason"], rows)}${more(found.length)}`;
}

/** What is being deleted stands in a list of its own. */
function waitingOf(view: View): readonly Unfinished[] {
  const keyOf = ({ kind, namespace, name }: Unfinished) => `${kind}/${namespace}/${name}`;
  const going = new Set(deletedIn(view).map(({ kind, metadata }) => `${kind}/${metadata.namespace}/${metadata.name}`));
  return view.summary.waiting.filter((one) => !going.has(keyOf(one)));
}

const deletedIn = ({ read, scope }: View): ManagedObject[] =>
  [...read.objects.values()]
    .flat()
    .filter(({ metadata }) => metadata.deletionTimestamp && includes(scope, metadata.namespace));

function deleting(view: View): Html {
  const { now } = view;
  const found = deletedIn(view);
  if (found.length === 0) return empty("Nothing is being deleted.");
  const rows = found.slice(0, MOST).map((object: ManagedObject) => {
    const { reason, message } = readyOf({ object });
    const { namespace, name, deletionTimestamp = "" } = object.metadata;
    const about = { kind: object.kind, namespace, name };
    return [objectLink(about), namespace, ageOf(deletionTimestamp, now), reason && reasonLink(reason), message];
  });
  return html`${tableOf("Being deleted", ["Object", "Namespace", "Since", "Reason", "Waits for"], rows)}${more(found.length)}`;
}

function objects({ summary }: View): Html {
  if (summary.objects.length === 0)
    return empty("There are no objects yet. Apply a manifest, or adopt what is in the account.");
  const rows = summary.objects.map(({ kind, all, ready, others }) => [
    html`<a href="/topology?kind=${kind}">${kind}</a>`,
    String(all),
    String(ready),
    Object.entries(others)
      .map(([reason, count]) => `${count} ${reason}`)
      .join(", "),
  ]);
  return tableOf("Objects by kind", ["Kind", "All", "Ready", "Others"], rows);
}
