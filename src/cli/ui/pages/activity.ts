import { API_VERSION } from "../../../schema/contract.ts";
import { failureOf } from "../../cluster/failure.ts";
import { type Event, events, toObjectEvent } from "../../why/events.ts";
import type { Change } from "../reading/changes.ts";
import type { View, Views } from "../reading/view.ts";
import { type Html, html } from "../view/html.ts";
import { accountTitle, empty, objectLink, section, since, tableOf } from "../view/parts.ts";
import { plotOf } from "../view/plot.ts";

const MOST = 150;

/** What the operator has told, what this server has seen change, and how many requests went to the account. */
export async function activity(view: View, views: Views): Promise<Html> {
  const { now, summary, samples } = view;
  const { rows: told, problem } = await eventsIn(views);
  const rows = [...told, ...view.changes].sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
  const lines = rows
    .slice(0, MOST)
    .map((row) => [since(row.at, now), objectLink(row), row.namespace, row.what, row.message]);
  return html`${section(
    "requests",
    "Requests",
    html`<div class="cards">${summary.accounts.map((account) => html`<div class="card"><h3>${accountTitle(account)}</h3>${plotOf(samples.of(account), { now, limit: account.requestsPerMinute })}</div>`)}</div>`,
    "status -A",
  )}
${section(
  "activity",
  "Events and changes, newest first",
  html`${problem && html`<p class="partial">${problem}</p>`}${
    lines.length === 0
      ? empty("Nothing has happened lately.")
      : tableOf("Events and changes", ["Since", "Object", "Namespace", "What", "Message"], lines)
  }`,
)}`;
}

type EventOfObject = Event & { involvedObject?: Partial<Record<"kind" | "name" | "namespace", string>> };

async function eventsIn({ client, flags }: Views): Promise<{ rows: Change[]; problem?: string }> {
  try {
    const fieldSelector = `involvedObject.apiVersion=${API_VERSION}`;
    const { items } = await client.listAll<EventOfObject>(events, { namespace: flags.namespace, fieldSelector });
    return { rows: items.map(rowOf) };
  } catch (error) {
    const problem = failureOf(error);
    if (problem === undefined) throw error;
    return { rows: [], problem };
  }
}

function rowOf(event: EventOfObject): Change {
  const { last, count, reason, message } = toObjectEvent(event);
  const { kind = "", name = "", namespace = "" } = event.involvedObject ?? {};
  return { at: last, kind, namespace, name, what: count > 1 ? `${reason} (x${count})` : reason, message };
}
