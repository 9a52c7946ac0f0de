import type { AccountFlags } from "./account/credentials.ts";
import { coloured } from "./colour.ts";
import { findNodes } from "./graph/find.ts";
import { type Graph, type Node, readyOf, titleOf } from "./graph/graph.ts";
import { load } from "./graph/load.ts";
import { keyOf, toJSON } from "./graph/output.ts";
import { type Terminal, UsageError } from "./terminal.ts";

interface Flags extends AccountFlags {
  output?: string;
  up?: boolean;
}

/** `tree`: what hangs together in the account, from one object or from everything that nothing uses. Reads only. */
export async function tree(text: string | undefined, flags: Flags, terminal: Terminal): Promise<number> {
  const { graph, problems } = await load(flags, terminal);
  const below = flags.up ? usersOf : usedOf;
  const roots = text === undefined ? rootsOf(graph, below) : findNodes(graph, text, flags.namespace);
  terminal.say(render({ roots, below }, flags.output, terminal));
  for (const problem of problems) terminal.warn(problem);
  return problems.length > 0 ? 1 : 0;
}

export interface Forest {
  roots: readonly Node[];
  below: (node: Node) => readonly Node[];
}

const byTitle = (one: Node, other: Node): number => (titleOf(one) < titleOf(other) ? -1 : 1);

/** What a node uses, and the other way round for what it is listened on by: an edge stands below its address. */
export const usedOf = (node: Node): readonly Node[] =>
  [...[...node.uses].filter((used) => !isBase(used)), ...(isBase(node) ? node.usedBy : [])].sort(byTitle);

export const usersOf = (node: Node): readonly Node[] =>
  [...[...node.usedBy].filter(() => !isBase(node)), ...[...node.uses].filter(isBase)].sort(byTitle);

/** An address, which people look for first. Its users name it by something else than its id. */
const isBase = ({ kind }: Node): boolean => "addr" in kind.status.shape;

export function rootsOf({ nodes }: Graph, below: Forest["below"]): Node[] {
  const under = new Set(nodes.flatMap((node) => [...below(node)]));
  return nodes.filter((node) => !under.has(node)).sort(byTitle);
}

export function render(forest: Forest, output: string | undefined, terminal: Terminal): string {
  switch (output) {
    case undefined:
      return rows(forest, terminal);
    case "json":
      return JSON.stringify(reachable(forest).map(toJSON), undefined, 2);
    case "dot":
      return ["digraph account {", ...drawn(forest, (one, other) => `  "${one}" -> "${other}";`), "}"].join("\n");
    case "mermaid":
      return ["flowchart LR", ...drawn(forest, (one, other) => `  ${box(one)} --> ${box(other)}`)].join("\n");
    default:
      throw new UsageError("-o must be json, dot or mermaid");
  }
}

const box = (key: string): string => `${key.replaceAll(/\W/g, "_")}["${key}"]`;

function drawn(forest: Forest, arrow: (one: string, other: string) => string): string[] {
  return reachable(forest).flatMap((node) => forest.below(node).map((under) => arrow(keyOf(node), keyOf(under))));
}

function reachable({ roots, below }: Forest): Node[] {
  const seen = new Set<Node>();
  const visit = (node: Node): void => {
    if (seen.has(node)) return;
    seen.add(node);
    below(node).forEach(visit);
  };
  roots.forEach(visit);
  return [...seen];
}

interface Row {
  node: Node;
  name: string;
}

function rows({ roots, below }: Forest, terminal: Terminal): string {
  const all = roots.flatMap((root) => branch(root, below, { name: "", rest: "" }, []));
  const widths = ["name", "namespace", "ready", "reason"].map((_, index) =>
    Math.max(0, ...[headings, ...all.map(cellsOf)].map((cells) => cells[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("   ")
      .trimEnd();
  const lines = all.map((row) => coloured(line(cellsOf(row)), colourOf(row.node), terminal));
  return [coloured(line(headings), undefined, terminal), ...lines].join("\n");
}

const headings = ["NAME", "NAMESPACE", "READY", "REASON", "ID"];

function cellsOf({ node, name }: Row): string[] {
  const { status, reason } = readyOf(node);
  return [name, node.object?.metadata.namespace ?? "", status, node.object ? reason : "(no object)", node.id ?? ""];
}

/** What is not Ready stands out, and what has no object steps back. */
function colourOf(node: Node): "grey" | "red" | undefined {
  if (!node.object) return "grey";
  return readyOf(node).status === "True" ? undefined : "red";
}

/** A node with what is below it. `above`: what it stands under, so that a circle ends. */
function branch(
  node: Node,
  below: Forest["below"],
  prefix: { name: string; rest: string },
  above: readonly Node[],
): Row[] {
  const row = { node, name: `${prefix.name}${node.object ? titleOf(node) : node.kind.kind}` };
  if (above.includes(node)) return [row];
  const under = below(node);
  const more = under.flatMap((child, index) => {
    const isLast = index === under.length - 1;
    const next = { name: `${prefix.rest}${isLast ? "└─ " : "├─ "}`, rest: `${prefix.rest}${isLast ? "   " : "│  "}` };
    return branch(child, below, next, [...above, node]);
  });
  return [row, ...more];
}
