import { GROUP } from "../../schema/contract.ts";
import { type OutputFlags, print } from "../terminal/output.ts";
import { table } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { type Node, readyOf, usersOf } from "./graph.ts";

/** A row of a table, and the node that it shows. */
export interface Row {
  node: Node;
  cells: readonly string[];
  /** Further members in the output for programs. */
  more?: Readonly<Record<string, string>>;
}

export const printNodes = (
  headings: readonly string[],
  rows: readonly Row[],
  flags: OutputFlags,
  terminal: Terminal,
): void =>
  print(
    {
      value: () => rows.map(({ node, more }) => ({ ...toJSON(node), ...more })),
      names: () => rows.map(({ node }) => nameOf(node)),
      lines: (screen) =>
        rows.length === 0
          ? []
          : table(
              headings,
              rows.map(({ cells }) => cells),
              screen,
            ),
    },
    flags,
    terminal,
  );

/** As `kubectl -o name` has it. A remote without an object is named by its id. */
export const nameOf = ({ kind, id, object }: Node): string =>
  object ? resourceName({ kind: kind.kind, name: object.metadata.name }) : (id ?? "");

export const resourceName = ({ kind, name }: { kind: string; name: string }): string =>
  `${kind.toLowerCase()}.${GROUP}/${name}`;

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
