import { ownerMarkOf } from "../objects/ownership.ts";
import type { AccountFlags } from "./account/credentials.ts";
import type { Graph, Node } from "./graph/graph.ts";
import { titleOf } from "./graph/graph.ts";
import { load } from "./graph/load.ts";
import { type OutputFlags, printNodes } from "./graph/output.ts";
import type { Terminal } from "./terminal.ts";

interface Flags extends AccountFlags, OutputFlags {
  unmanaged?: boolean;
}

/**
 * `orphans`: remotes with a mark of this cluster and no object, and objects whose remotes are gone. Reads only. Exit
 * code 1 when not everything could be read.
 */
export async function orphans(flags: Flags, terminal: Terminal): Promise<number> {
  const { graph, problems, clusterID } = await load(flags, terminal);
  const found = [
    ...markedWithoutObject(graph, clusterID).map((node) => ({ node, why: `no object ${ownerOf(node)}` })),
    ...withoutRemote(graph).map((node) => ({ node, why: "the remote is gone" })),
    ...(flags.unmanaged ? unmanaged(graph).map((node) => ({ node, why: "nobody manages it" })) : []),
  ];
  const lines = found.map(({ node, why }) => ({ node, cells: [...cellsOf(node), why] }));
  printNodes(["What", "Namespace", "ID", "Used by", "Why"], lines, flags, terminal);
  if (clusterID === undefined) problems.push("Set CLUSTER_ID: the uid of kube-system cannot be read");
  if (lines.length === 0 && problems.length === 0) terminal.warn("There are no orphans");
  for (const problem of problems) terminal.warn(problem);
  return problems.length > 0 ? 1 : 0;
}

const cellsOf = (node: Node): string[] => [
  node.object ? titleOf(node) : node.kind.kind,
  node.object?.metadata.namespace ?? "",
  node.id ?? "",
  String(node.usedBy.size),
];

const markOf = ({ remote }: Node): string | undefined => remote && ownerMarkOf(remote);

const ownerOf = (node: Node): string => markOf(node)?.split("/").slice(-2).join("/") ?? "";

/** Remotes that objects of this cluster have left behind. */
export const markedWithoutObject = ({ nodes }: Graph, clusterID: string | undefined): Node[] =>
  nodes.filter((node) => !node.object && clusterID !== undefined && markOf(node)?.startsWith(`${clusterID}/`));

/** Objects whose remotes were in the account once. Where a list failed, none is known to be gone. */
export const withoutRemote = ({ nodes, listed }: Graph): Node[] =>
  nodes.filter(({ kind, id, object, remote }) => object && id !== undefined && !remote && listed.has(kind));

/** Remotes without an object and without a mark, so of nobody that is known. */
export const unmanaged = ({ nodes }: Graph): Node[] =>
  nodes.filter((node) => !node.object && markOf(node) === undefined);
