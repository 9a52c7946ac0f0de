import { conditionOf } from "../objects/object.ts";
import type { AccountFlags } from "./account/credentials.ts";
import { findNodes } from "./graph/find.ts";
import { type Node, readyOf, titleOf } from "./graph/graph.ts";
import { load } from "./graph/load.ts";
import { CommandError, type Terminal } from "./terminal.ts";

/** `why`: what keeps an object from being Ready, and what keeps that, down to the root. Reads only. */
export async function why(text: string, flags: AccountFlags, terminal: Terminal): Promise<number> {
  const { graph, problems } = await load(flags, terminal);
  const found = findNodes(graph, text, flags.namespace).filter(({ object }) => object);
  if (found.length === 0) throw new CommandError(`There is no object of ${text}: nobody manages it`);
  terminal.say(found.flatMap((node) => causesOf(node)).join("\n"));
  for (const problem of problems) terminal.warn(problem);
  return problems.length > 0 ? 1 : 0;
}

/** A line for an object, one for what its conditions say, and the same for each object that it waits for. */
export function causesOf(node: Node, indent = "", above: readonly Node[] = []): string[] {
  const { status, reason, message } = readyOf(node);
  const title = titleOf(node);
  const synced = conditionOf(node.object?.status, "Synced");
  const behind = synced?.status === "False" ? [`${indent}  ${synced.reason}: ${synced.message}`] : [];
  if (status === "True") return [`${indent}${title} is Ready`, ...behind];
  const own =
    status === "" ? `${title} was not looked at yet: is the operator running?` : `${title} is not Ready: ${reason}`;
  const causes = [...node.uses].filter(
    (used) => used.object && readyOf(used).status !== "True" && !above.includes(used),
  );
  return [
    `${indent}${own}`,
    ...(message ? [`${indent}  ${message}`] : []),
    ...causes.flatMap((cause) => causesOf(cause, `${indent}  `, [...above, node])),
  ];
}
