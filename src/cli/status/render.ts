import { counted } from "../../schema/nouns.ts";
import { ageOf } from "../terminal/age.ts";
import { painted } from "../terminal/colour.ts";
import type { Colour, Line } from "../terminal/line.ts";
import type { Screen } from "../terminal/output.ts";
import { tableRows } from "../terminal/table.ts";
import type { Summary } from "./summary.ts";

/** Most rows of a part with single objects, so that all parts fit on one screen. */
const MOST = 10;

/** A certificate that ends within this time is on the screen. The outputs for programs have all. */
export const SOON_MS = 30 * 24 * 3_600_000;

/** One screen. Empty parts are left out. With `noHeaders`, tables have no headings, only a title. */
export function renderStatus(summary: Summary, now: number, terminal: Screen): Line[] {
  const { installations, accounts, objects, certificates, drifted, paused, waiting, unsynced, attention } = summary;
  const parts = [
    part("Operators", ["Namespace", "Leader", "Renewed"], installations.map(leaderRow(now)), terminal),
    part(
      "Accounts",
      ["Namespace", "Name", "Ready", "Reason", "Objects", "Requests"],
      accounts.map(accountRow(now)),
      terminal,
    ),
    part("Objects", ["Kind", "All", "Ready", "Others"], objects.map(objectRow), terminal),
    part(
      "Certificates that end within 30 days",
      ["Object", "Namespace", "Ends"],
      certificates
        .filter(({ until }) => Date.parse(until) - now < SOON_MS)
        .map((one) => [titleOf(one), one.namespace, one.until]),
      terminal,
      "yellow",
    ),
    part(
      "Changed in the account by somebody else",
      ["Object", "Namespace", "What"],
      drifted.map((one) => [titleOf(one), one.namespace, one.message]),
      terminal,
      "yellow",
    ),
    part("Paused", ["Object", "Namespace", "Since", "Reason"], rowsOf(paused, now, false), terminal),
    part("Not synced, oldest first", UNFINISHED, rowsOf(unsynced, now), terminal, "yellow"),
    part("Waits, oldest first", UNFINISHED, rowsOf(waiting, now), terminal, "yellow"),
    part("Needs a person, oldest first", UNFINISHED, rowsOf(attention, now), terminal, "red"),
  ].filter((lines) => lines.length > 0);
  return parts.flatMap((lines, index) => [...(index > 0 ? [""] : []), ...lines]);
}

const UNFINISHED = ["Object", "Namespace", "Since", "Reason", "Message"];

/** The first rows, and one that counts the others. */
function rowsOf(
  objects: readonly {
    kind: string;
    namespace: string;
    name: string;
    since: string;
    reason: string;
    message?: string;
  }[],
  now: number,
  hasMessage = true,
): Row[] {
  const rows = objects
    .slice(0, MOST)
    .map((one) => [
      titleOf(one),
      one.namespace,
      ageOf(one.since, now),
      one.reason,
      ...(hasMessage ? [one.message ?? ""] : []),
    ]);
  const more = objects.length - MOST;
  return more > 0 ? [...rows, [`and ${more} more: see -o json`, "", "", "", ...(hasMessage ? [""] : [])]] : rows;
}

/** Whether everything is as it should be, in one sentence below the screen. */
export const conclusionOf = (summary: Summary, place: string): string[] => [
  ...(summary.objects.length + summary.installations.length + summary.accounts.length > 0 ? [""] : []),
  sentenceOf(summary, place),
];

function sentenceOf(summary: Summary, place: string): string {
  const { installations, accounts, objects, drifted, paused, waiting, unsynced, attention } = summary;
  const all = objects.reduce((sum, one) => sum + one.all, 0);
  const unfit = [
    ifAny(attention.length, "needs a person", "need a person"),
    ifAny(waiting.length, "waits", "wait"),
    ifAny(unsynced.length, "is not synced", "are not synced"),
    ifAny(paused.length, "is paused", "are paused"),
    ifAny(drifted.length, "differs from the account", "differ from the account"),
    ifAny(
      accounts.filter(({ ready }) => ready === "False").length,
      "account cannot be used",
      "accounts cannot be used",
    ),
    ifAny(
      installations.filter(({ isLeading }) => !isLeading).length,
      "operator does not lead",
      "operators do not lead",
    ),
  ].filter(Boolean);
  if (unfit.length > 0) return `Not all is well: ${unfit.join(", ")}`;
  if (all === 0) return `There are no objects in ${place}`;
  return all === 1 ? `All is well: the one object in ${place} is Ready` : `All is well: all ${all} objects are Ready`;
}

const ifAny = (count: number, one: string, many: string): string => (count === 0 ? "" : counted(count, one, many));

type Row = readonly string[];

function part(title: string, headings: Row, rows: readonly Row[], terminal: Screen, colour?: Colour): Line[] {
  if (rows.length === 0) return [];
  const all = tableRows(headings, rows, terminal);
  const [head, body] = terminal.noHeaders ? [[], all] : [all.slice(0, 1), all.slice(1)];
  return [
    title,
    ...head.flat().map((line) => painted(line, "grey")),
    ...body.flatMap((row) => row.map((line) => painted(line, row.some(isBad) ? "red" : colour))),
  ];
}

const isBad = (line: string): boolean => /\bFalse\b|NOT LEADING/.test(line);

const titleOf = ({ kind, name }: { kind: string; name: string }): string => `${kind}/${name}`;

const leaderRow =
  (now: number) =>
  ({ namespace, leader, isLeading, renewed }: Summary["installations"][number]): Row => [
    namespace,
    isLeading ? leader : `NOT LEADING: ${leader || "nobody"}`,
    ageOf(renewed, now),
  ];

const accountRow =
  (now: number) =>
  (account: Summary["accounts"][number]): Row => {
    const { namespace, name, ready, reason, since, objects } = account;
    const why = since === undefined ? reason : `${reason} for ${ageOf(since, now)}`;
    return [namespace, name || "(the operator's own)", ready, why, String(objects), trafficOf(account, now)];
  };

function trafficOf(
  { requestsInLastMinute, requestsPerMinute, lastList, pausedUntil, waiting }: Summary["accounts"][number],
  now: number,
): string {
  if (requestsInLastMinute === undefined) return "";
  const requests = requestsPerMinute
    ? `${requestsInLastMinute} of ${counted(requestsPerMinute, "request")}`
    : counted(requestsInLastMinute, "request");
  const listed = lastList === undefined ? "not listed yet" : `listed ${ageOf(lastList, now)} ago`;
  const pause = pausedUntil === undefined ? "" : `, paused by the service until ${pausedUntil}`;
  const queue = waiting === undefined ? "" : `, ${counted(waiting, "waits for its turn", "wait for their turn")}`;
  return `${requests} in the last minute${queue}, ${listed}${pause}`;
}

const objectRow = ({ kind, all, ready, others }: Summary["objects"][number]): Row => [
  kind,
  String(all),
  String(ready),
  Object.entries(others)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(", "),
];
