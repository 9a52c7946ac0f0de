import { ageOf } from "../terminal/age.ts";
import { painted } from "../terminal/colour.ts";
import type { Colour, Line } from "../terminal/line.ts";
import { type TableOptions, tableRows } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Summary } from "./summary.ts";

/** Most rows of objects that need a person, so that all parts fit on one screen. */
const MOST = 10;

/** `noHeaders`: tables have no headings, only a title. */
type Screen = Terminal & Pick<TableOptions, "noHeaders">;

/** One screen. Empty parts are left out. */
export function renderStatus(summary: Summary, now: number, terminal: Screen): Line[] {
  const { installations, accounts, objects, certificates, drifted, attention } = summary;
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
      certificates.map((one) => [titleOf(one), one.namespace, one.until]),
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
    part(
      "Needs a person, newest first",
      ["Object", "Namespace", "Since", "Reason", "Message"],
      attention
        .slice(0, MOST)
        .map((one) => [titleOf(one), one.namespace, ageOf(one.since, now), one.reason, one.message]),
      terminal,
      "red",
    ),
  ].filter((lines) => lines.length > 0);
  const more = attention.length - MOST;
  const all = [...parts, ...(more > 0 ? [[`${more} more: kubectl get tunnelgateway -A`]] : [])];
  return all.flatMap((lines, index) => [...(index > 0 ? [""] : []), ...lines]);
}

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
    const { namespace, name, ready, reason, objects } = account;
    return [namespace, name || "(the operator's own)", ready, reason, String(objects), trafficOf(account, now)];
  };

function trafficOf(
  { requestsInLastMinute, requestsPerMinute, lastList, pausedUntil }: Summary["accounts"][number],
  now: number,
): string {
  if (requestsInLastMinute === undefined) return "";
  const budget = requestsPerMinute ? ` of ${requestsPerMinute}` : "";
  const listed = lastList === undefined ? "not listed yet" : `listed ${ageOf(lastList, now)} ago`;
  const pause = pausedUntil === undefined ? "" : `, paused by the service until ${pausedUntil}`;
  return `${requestsInLastMinute}${budget} requests in the last minute, ${listed}${pause}`;
}

const objectRow = ({ kind, all, ready, others }: Summary["objects"][number]): Row => [
  kind,
  String(all),
  String(ready),
  Object.entries(others)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(", "),
];
