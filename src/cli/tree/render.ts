import { type Node, cellOf as nodeName, readyOf } from "../graph/graph.ts";
import type { SessionGroup } from "../graph/sessions.ts";
import { coloured } from "../terminal/colour.ts";
import type { Colour, Line } from "../terminal/line.ts";
import type { Screen } from "../terminal/output.ts";
import { plain } from "../terminal/plain.ts";
import { cut } from "../terminal/table.ts";
import { type Forest, type Item, itemKey, type Module } from "./items.ts";

interface Row {
  item: Item;
  cells: readonly string[];
}

const GAP = "   ";

/** A name is not cut shorter than this. */
const NARROWEST = 24;

const headings = ["NAME", "NAMESPACE", "READY", "REASON", "ID"];

/** A table with the tree in its first column. */
export function renderTree(forest: Forest, screen: Screen): Line[] {
  const rows = rowsOf(forest);
  const heads = screen.noHeaders || rows.length === 0 ? [] : [headings];
  const isKnown = rows.every(({ cells: [, namespace] }) => !namespace || namespace === forest.namespace);
  const widths = widthsFor([...heads, ...rows.map(({ cells }) => cells)], isKnown, screen.columns);
  const inColumns = (cells: readonly string[]) =>
    widths.flatMap((width, index) => (width === undefined ? [] : cellOf(cells[index] ?? "", width))).join(GAP);
  const line = (cells: readonly string[]) =>
    cut(isAlone(cells) ? (cells[0] ?? "") : inColumns(cells), screen.columns).trimEnd();
  return [
    ...heads.map((head) => coloured(line(head), undefined, screen)),
    ...rows.map(({ cells, item }) => coloured(line(cells), colourOf(item), screen)),
  ];
}

/** A name with nothing beside it may go on into the other columns. */
const isAlone = ([_, ...others]: readonly string[]): boolean => others.every((cell) => cell === "");

const cellOf = (cell: string, width: number): string =>
  cell.length > width ? `${cell.slice(0, width - 1)}…` : cell.padEnd(width);

/**
 * If the terminal is too narrow, leave out the ids, then the namespaces if they are known, then cut the names: a reason
 * says more than the end of a name. A column without a width is left out.
 */
function widthsFor(lines: Cells, isKnown: boolean, columns: number | undefined): (number | undefined)[] {
  const inColumns = lines.filter((cells) => !isAlone(cells));
  const widths = headings.map((_, index) => Math.max(0, ...inColumns.map((cells) => cells[index]?.length ?? 0)));
  const total = (all: readonly number[]) => all.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  if (columns === undefined || total(widths) <= columns) return widths;
  const [name = 0, namespace = 0, ...rest] = widths.slice(0, -1);
  const isShown = !isKnown || total([name, namespace, ...rest]) <= columns;
  const room = columns - total([0, ...(isShown ? [namespace] : []), ...rest]);
  return [Math.min(name, Math.max(room, NARROWEST)), isShown ? namespace : undefined, ...rest];
}

type Cells = readonly (readonly string[])[];

/** An item that is still to be printed. */
interface Branch {
  item: Item;
  /** What stands before its name, and before the names below it. */
  name: string;
  rest: string;
}

/**
 * Each item with the items below it. What several items use is printed with what is below it once, where it comes first:
 * the ways through a graph can be far more than its arrows. Also, a circle ends so.
 */
function rowsOf({ roots, below, troubles }: Forest): Row[] {
  const rows: Row[] = [];
  const shown = new Set<string>();
  // No recursion: other people decide how deep this is.
  const open = roots.toReversed().map((item): Branch => ({ item, name: "", rest: "" }));
  for (let next = open.pop(); next; next = open.pop()) {
    const { item, name: prefix, rest } = next;
    const [name = "", ...cells] = cellsOf(item, troubles).map(plain);
    const under = below(item);
    const key = itemKey(item);
    const isAgain = shown.has(key) && under.length > 0;
    rows.push({ item, cells: [`${prefix}${name}${isAgain ? " (see above)" : ""}`, ...cells] });
    if (isAgain) continue;
    shown.add(key);
    const branches = under.map((child, index): Branch => {
      const isLast = index === under.length - 1;
      return { item: child, name: `${rest}${isLast ? "└─ " : "├─ "}`, rest: `${rest}${isLast ? "   " : "│  "}` };
    });
    open.push(...branches.reverse());
  }
  return rows;
}

/** Name, namespace, Ready, reason and id. `troubles`: as a forest has them. */
export function cellsOf(item: Item, troubles?: Forest["troubles"]): string[] {
  switch (item.type) {
    case "node":
      return nodeCells(item, troubles?.get(item.node));
    case "module":
      return moduleCells(item.module);
    case "part":
      return partCells(item.kind, item.id);
    case "session":
      return [
        `TunnelSession ${item.session.id}`,
        "",
        "",
        `(${["online", item.session.region || []].flat().join(", ")})`,
      ];
    case "credential":
      return credentialCells(item.group);
    case "rest":
      return [item.text];
  }
}

function nodeCells({ node, through, place }: Extract<Item, { type: "node" }>, trouble: Node | undefined): string[] {
  const { object, id = "" } = node;
  const name = [place ?? [], nodeName(node), through ? `(${through})` : []].flat().join(" ");
  if (!object) return [name, "", "", "(no object)", id];
  const { status, reason } = readyOf(node);
  const why = trouble ? `${reason}, ${leadsTo(trouble)}` : reason;
  return [name, object.metadata.namespace, status, why, id];
}

/** Of a node that is Ready: to what it leads that is not. */
export const leadsTo = (trouble: Node): string => `leads to ${readyOf(trouble).reason || "what is not Ready"}`;

/** A module without anything below it says what it does, or at least that it is on. */
function moduleCells({ name, isOn, text, uses }: Module): string[] {
  const on = text === "" && uses.length === 0 ? "(on)" : "";
  return [text ? `${name}: ${text}` : name, "", "", isOn ? on : "(off)"];
}

/** The id of an entry begins with that of its parent, which stands above. */
function partCells(kind: string, id: string): string[] {
  const [name = "", ...above] = id.split("/").reverse();
  return [`${kind} ${name}`, "", "", "", above.length > 0 ? id : ""];
}

function credentialCells({ credential, sessions }: SessionGroup): string[] {
  const name = credential ? `Credential ${credential}` : "Sessions without a credential";
  return [name, "", "", `(${sessions.length} online)`];
}

/** Items that are not Ready are highlighted, and items without an object are dimmed. */
export function colourOf(item: Item): Colour | undefined {
  if (item.type === "module") return item.module.isOn ? undefined : "grey";
  if (item.type !== "node") return "grey";
  if (!item.node.object) return "grey";
  return readyOf(item.node).status === "True" ? undefined : "red";
}
