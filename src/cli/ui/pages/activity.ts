import { API_VERSION } from "../../../schema/contract.ts";
import { counted } from "../../../schema/nouns.ts";
import { messageForUser } from "../../cluster/failure.ts";
import { flagOf } from "../../cluster/scope.ts";
import { type Event, events, toObjectEvent } from "../../why/events.ts";
import type { Change } from "../reading/changes.ts";
import type { View, Views } from "../reading/view.ts";
import { type Html, html } from "../view/html.ts";
import { accountTitle, empty, objectLink, section, since, tableOf } from "../view/parts.ts";
import { plotOf, spanOf } from "../view/plot.ts";

const MOST = 150;

/** What the operator has told, what this server has seen change, and how many requests went to the account. */
export async function activity(view: View, views: Views): Promise<Html> {
  const { now, summary } = view;
  const { rows: told, problem } = await eventsIn(views);
  const rows = [...told, ...view.changes.filter((one) => !told.some((other) => isSame(one, other)))].sort(
    (one, other) => Date.parse(other.at) - Date.parse(one.at),
  );
  const lines = rows
    .slice(0, MOST)
    .map((row) => [since(row.at, now), objectLink(row), row.namespace, row.what, row.message]);
  return html`${section(
    "requests",
    "Requests, and what happened beside them",
    summary.accounts.map((account) => lineOfTime(account, rows, view)),
    `status ${flagOf(view.scope)}`,
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

/** The operator writes the status and the event of one change at about the same time. */
const TOGETHER_MS = 5_000;

const isSame = (one: Change, event: Change): boolean =>
  one.kind === event.kind &&
  one.namespace === event.namespace &&
  one.name === event.name &&
  one.message === event.message &&
  Math.abs(Date.parse(one.at) - Date.parse(event.at)) < TOGETHER_MS;

type Account = View["summary"]["accounts"][number];

/** The requests to an account, and a mark for each event and change in the same time. */
function lineOfTime(account: Account, rows: readonly Change[], { now, samples }: View): Html {
  const seen = samples.of(account);
  const marks = rows.slice(0, MOST).map(({ at, kind, name, what }) => ({ at, title: `${kind}/${name}: ${what}` }));
  const minutes = Math.ceil(spanOf(seen, now) / 60_000);
  const times =
    seen.length > 1 && html`<p class="times"><span>${counted(minutes, "minute")} ago</span> <span>now</span></p>`;
  return html`<div class="card timeline"><h3>${accountTitle(account)}</h3>${plotOf(seen, { now, limit: account.requestsPerMinute, marks })}${times}</div>`;
}

type EventOfObject = Event & { involvedObject?: Partial<Record<"kind" | "name" | "namespace", string>> };

async function eventsIn({ client, flags }: Views): Promise<{ rows: Change[]; problem?: string }> {
  try {
    const fieldSelector = `involvedObject.apiVersion=${API_VERSION}`;
    const { items } = await client.listAll<EventOfObject>(events, { namespace: flags.namespace, fieldSelector });
    return { rows: items.map(rowOf) };
  } catch (error) {
    const problem = messageForUser(error);
    if (problem === undefined) throw error;
    return { rows: [], problem };
  }
}

function rowOf(event: EventOfObject): Change {
  const { last, count, reason, message } = toObjectEvent(event);
  const { kind = "", name = "", namespace = "" } = event.involvedObject ?? {};
  return { at: last, kind, namespace, name, what: count > 1 ? `${reason} (x${count})` : reason, message };
}
