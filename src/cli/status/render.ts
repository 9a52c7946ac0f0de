import { type Colour, coloured } from "../colour.ts";
import { table } from "../table.ts";
import type { Terminal } from "../terminal.ts";
import type { Summary } from "./summary.ts";

/** So many rows of what needs a person fit on a screen beside the rest. */
const MOST = 10;

/** One screen. A part that has nothing to say is left out. */
export function renderStatus(summary: Summary, now: number, terminal: Terminal): string {
  const { installations, accounts, objects, certificates, drifted, attention } = summary;
  const parts = [
    part("Operators", ["Namespace", "Leader", "Renewed"], installations.map(leaderRow(now)), terminal),
    part("Accounts", ["Namespace", "Name", "Ready", "Reason", "Objects"], accounts.map(accountRow), terminal),
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
  ].filter((text) => text !== "");
  const more = attention.length - MOST;
  return [...parts, ...(more > 0 ? [`${more} more: kubectl get tunnelgateway -A`] : [])].join("\n\n");
}

type Row = readonly string[];

function part(title: string, headings: Row, rows: readonly Row[], terminal: Terminal, colour?: Colour): string {
  if (rows.length === 0) return "";
  const [head = "", ...lines] = table(headings, rows).split("\n");
  return [
    title,
    coloured(head, "grey", terminal),
    ...lines.map((line) => coloured(line, /\bFalse\b|NOT LEADING/.test(line) ? "red" : colour, terminal)),
  ].join("\n");
}

const titleOf = ({ kind, name }: { kind: string; name: string }): string => `${kind}/${name}`;

const leaderRow =
  (now: number) =>
  ({ namespace, leader, isLeading, renewed }: Summary["installations"][number]): Row => [
    namespace,
    isLeading ? leader : `NOT LEADING: ${leader || "nobody"}`,
    ageOf(renewed, now),
  ];

const accountRow = ({ namespace, name, ready, reason, objects }: Summary["accounts"][number]): Row => [
  namespace,
  name || "(the operator's own)",
  ready,
  reason,
  String(objects),
];

const objectRow = ({ kind, all, ready, others }: Summary["objects"][number]): Row => [
  kind,
  String(all),
  String(ready),
  Object.entries(others)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(", "),
];

const units: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
  [1, "s"],
];

/** As kubectl shows ages: one unit. */
function ageOf(time: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1000);
  if (!Number.isFinite(seconds)) return "";
  const [length, name] = units.find(([unit]) => seconds >= unit) ?? [1, "s"];
  return `${Math.floor(seconds / length)}${name}`;
}
