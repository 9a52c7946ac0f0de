import { counted } from "../../schema/nouns.ts";
import type { AccountFlags } from "../account/credentials.ts";
import { reportPartial } from "../cluster/partial.ts";
import type { Scope } from "../cluster/scope.ts";
import { findNodes } from "../graph/find.ts";
import { cellOf, type Node, readyOf, titleOf, usersOf } from "../graph/graph.ts";
import { load } from "../graph/load.ts";
import { wantedBy } from "../graph/named.ts";
import { printNodes } from "../graph/output.ts";
import { reachedFrom } from "../graph/reached.ts";
import { sessionsOf, sessionsUse } from "../graph/sessions.ts";
import type { OutputFlags } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { byTitle, modulesOf } from "./items.ts";

type Flags = AccountFlags & OutputFlags;

/** `users`: the nodes that refer to a remote, with or without an object, in any namespace. Read-only. */
export async function users(words: readonly string[], flags: Flags, terminal: Terminal): Promise<number> {
  const wanted = wantedBy(words);
  const { graph, problems, scope } = await load(flags, terminal, { sessions: true, isClusterEnough: true });
  const found = findNodes(graph, wanted, scope, problems);
  const rows = [...new Set(found.flatMap(usersOf))].sort(byTitle).map((node) => ({ node, cells: cellsOf(node) }));
  printNodes(["User", "Namespace", "Ready", "ID"], rows, flags, terminal);
  for (const node of found)
    for (const line of consequences(node, scope, sessionsOf(graph.sessions, node.id).length)) terminal.warn(line);
  return reportPartial(problems, terminal);
}

const cellsOf = (node: Node): string[] => [
  cellOf(node),
  node.object?.metadata.namespace ?? "",
  readyOf(node).status,
  node.id ?? "",
];

/** Warnings about the effects of deleting the remote. */
export function consequences(node: Node, scope: Scope, sessions: number): string[] {
  const title = titleOf(node, scope);
  const { size } = node.listeners;
  const ways = addressesAbove(node).length;
  const lines = [
    ...(node.usedBy.size > 0 ? [consequence(node, title)] : []),
    ...(size > 0 ? [`${counted(size, "listens", "listen")} at ${title}: its deletion does not wait for that`] : []),
    ...(ways > 0 ? [`${counted(ways, "domain or address leads", "domains and addresses lead")} to ${title}`] : []),
    ...(sessions > 0 ? [`${sessionsUse(sessions)} ${title}: its deletion does not wait for that`] : []),
  ];
  return lines.length > 0 ? lines : [`Nothing that is known uses ${title}`];
}

/** The domains and addresses whose traffic comes to a node, by way of what uses it. */
function addressesAbove(node: Node): Node[] {
  const isAddress = ({ kind }: Node): boolean => kind.address !== undefined;
  const above = (one: Node): Node[] =>
    isAddress(one)
      ? []
      : [...[...one.usedBy].filter((user) => isInUse(one, user)), ...one.listensAt, ...[...one.uses].filter(isAddress)];
  return [...reachedFrom([node], above)].filter((one) => one !== node && isAddress(one));
}

/** A module that is switched off leads nowhere. */
function isInUse(node: Node, user: Node): boolean {
  const through = modulesOf(user).filter(({ uses }) => uses.includes(node));
  return through.length === 0 || through.some(({ isOn }) => isOn);
}

function consequence(node: Node, title: string): string {
  const unmanaged = [...node.usedBy].filter(({ object }) => object === undefined).length;
  const rest = unmanaged > 0 ? `; ${counted(unmanaged, "of them has", "of them have")} no object` : "";
  const count = node.usedBy.size;
  const ends = count === 1 ? "it is gone or refers" : "they are gone or refer";
  return `${counted(count, "uses", "use")} ${title}${rest}: its deletion waits until ${ends} to something else`;
}
