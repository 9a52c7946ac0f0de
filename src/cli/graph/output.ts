import { structured } from "../terminal/structured.ts";
import { table } from "../terminal/table.ts";
import { type Terminal, UsageError } from "../terminal/terminal.ts";
import { type Node, readyOf, usersOf } from "./graph.ts";

export interface OutputFlags {
  output?: string;
  /** False: no headings. */
  headers?: boolean;
}

/** A row of a table, and the node that it shows. */
export interface Line {
  node: Node;
  cells: readonly string[];
  /** Further members in the output for programs. */
  more?: Readonly<Record<string, string>>;
}

/** Prints nodes as a table, as names, or as JSON. */
export function printNodes(
  headings: readonly string[],
  lines: readonly Line[],
  flags: OutputFlags,
  terminal: Terminal,
): void {
  const shown = render(headings, lines, flags, terminal);
  if (shown.length > 0) terminal.say(shown);
}

function render(
  headings: readonly string[],
  lines: readonly Line[],
  flags: OutputFlags,
  { columns }: Terminal,
): string[] {
  const { output = "", headers = true } = flags;
  switch (output) {
    case "":
    case "wide": {
      const options = { noHeaders: !headers || lines.length === 0, columns: output === "wide" ? undefined : columns };
      return table(
        headings,
        lines.map(({ cells }) => cells),
        options,
      );
    }
    case "name":
      return lines.map(({ node }) => nameOf(node));
    case "json":
    case "yaml":
      return structured(
        lines.map(({ node, more }) => ({ ...toJSON(node), ...more })),
        output,
      );
    default:
      throw new UsageError("-o must be wide, name, json or yaml");
  }
}

export const nameOf = ({ kind, id, object }: Node): string =>
  object ? `${kind.kind.toLowerCase()}.tunnelgateway.dev/${object.metadata.name}` : (id ?? "");

/** A key that is different for each node. */
export const keyOf = ({ kind, id, object }: Node): string =>
  object ? `${kind.kind}/${object.metadata.namespace}/${object.metadata.name}` : `${kind.kind}/${id}`;

interface NodeJSON {
  key: string;
  uses: string[];
  usedBy: string[];
  [member: string]: unknown;
}

export function toJSON(node: Node): NodeJSON {
  const { status, reason } = readyOf(node);
  const { kind, id, object, remote } = node;
  return {
    key: keyOf(node),
    kind: kind.kind,
    ...(id !== undefined && { id }),
    ...(object && { namespace: object.metadata.namespace, name: object.metadata.name, ready: status, reason }),
    inAccount: remote !== undefined,
    uses: [...node.uses, ...node.listensAt].map(keyOf).sort(),
    usedBy: usersOf(node).map(keyOf).sort(),
  };
}
