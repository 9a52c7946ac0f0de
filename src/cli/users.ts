import type { AccountFlags } from "./account/credentials.ts";
import { findNodes } from "./graph/find.ts";
import { type Node, readyOf, titleOf } from "./graph/graph.ts";
import { load } from "./graph/load.ts";
import { type OutputFlags, printNodes } from "./graph/output.ts";
import type { Terminal } from "./terminal.ts";

/** `users`: what has a remote in it, with or without an object, in any namespace. Reads only. */
export async function users(text: string, flags: AccountFlags & OutputFlags, terminal: Terminal): Promise<number> {
  const { graph, problems } = await load(flags, terminal);
  const found = findNodes(graph, text, flags.namespace);
  const lines = found.flatMap(({ usedBy }) => [...usedBy]).map((node) => ({ node, cells: cellsOf(node) }));
  printNodes(["User", "Namespace", "Ready", "ID"], lines, flags, terminal);
  for (const node of found) terminal.warn(consequence(node));
  for (const problem of problems) terminal.warn(problem);
  return problems.length > 0 ? 1 : 0;
}

const cellsOf = (node: Node): string[] => [
  titleOf(node),
  node.object?.metadata.namespace ?? "",
  readyOf(node).status,
  node.id ?? "",
];

/** What would happen if the remote went. */
function consequence(node: Node): string {
  const title = titleOf(node);
  if (node.usedBy.size === 0) return `Nothing that is known uses ${title}`;
  const unmanaged = [...node.usedBy].filter(({ object }) => object === undefined).length;
  const rest = unmanaged > 0 ? `; ${unmanaged} of them have no object` : "";
  return `${node.usedBy.size} use ${title}${rest}: its deletion waits until they are gone or refer to something else`;
}
