import type { KubeObject } from "../../../runtime/object.ts";
import { API_VERSION } from "../../../schema/contract.ts";
import { failureOf } from "../../cluster/failure.ts";
import { type ObjectEvent, toObjectEvent } from "../../why/events.ts";
import type { View, Views } from "../reading/view.ts";
import { type Html, html } from "../view/html.ts";
import { empty, objectLink, section, since, tableOf } from "../view/parts.ts";
import { plotOf } from "../view/plot.ts";

const MOST = 150;

interface Row {
  at: string;
  kind: string;
  namespace: string;
  name: string;
  what: string;
  message: string;
}

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
    html`<div class="cards">${summary.accounts.map((account) => html`<div class="card"><h3>${account.name ? `${account.namespace}/${account.name}` : "The operator's own account"}</h3>${plotOf(samples.of(account), { now, limit: account.requestsPerMinute })}</div>`)}</div>`,
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

type Event = Parameters<typeof toObjectEvent>[0] & {
  involvedObject?: Partial<Record<"kind" | "name" | "namespace", string>>;
};

const events = { group: "", version: "v1", plural: "events", kind: "Event" };

async function eventsIn({ client, flags }: Views): Promise<{ rows: Row[]; problem?: string }> {
  try {
    const fieldSelector = `involvedObject.apiVersion=${API_VERSION}`;
    const { items } = await client.listAll<KubeObject>(events, { namespace: flags.namespace, fieldSelector });
    return { rows: items.map((item) => rowOf(item as Event)) };
  } catch (error) {
    const problem = failureOf(error);
    if (problem === undefined) throw error;
    return { rows: [], problem };
  }
}

function rowOf(event: Event): Row {
  const { last, count, reason, message }: ObjectEvent = toObjectEvent(event);
  const { kind = "", name = "", namespace = "" } = event.involvedObject ?? {};
  return { at: last, kind, namespace, name, what: count > 1 ? `${reason} (x${count})` : reason, message };
}
