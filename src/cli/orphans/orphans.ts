import { ownerMarkOf } from "../../objects/ownership.ts";
import type { AccountFlags } from "../account/credentials.ts";
import { reportPartial } from "../cluster/partial.ts";
import type { Graph, Node } from "../graph/graph.ts";
import { titleOf, usersOf } from "../graph/graph.ts";
import { type Loaded, load } from "../graph/load.ts";
import { type OutputFlags, printNodes } from "../graph/output.ts";
import { sessionsOf } from "../graph/sessions.ts";
import { importAccount } from "../import/import.ts";
import { type Terminal, UsageError } from "../terminal/terminal.ts";
import { deleteOrphans } from "./delete.ts";

interface Flags extends AccountFlags, OutputFlags {
  unmanaged?: boolean;
  import?: boolean;
  delete?: boolean;
  yes?: boolean;
}

/**
 * `orphans`: remotes with a mark of this cluster and no object, and objects whose remotes are gone. Only reads, unless
 * `--delete` is set. Exit code 1 if something could not be read or deleted.
 */
export async function orphans(flags: Flags, terminal: Terminal): Promise<number> {
  refuseUnsafeFlags(flags, terminal);
  const loaded = await load(flags, terminal, { sessions: true, marks: true });
  const { graph, problems, clusterID } = loaded;
  const remotes = [...markedWithoutObject(graph, clusterID), ...(flags.unmanaged ? unmanaged(graph) : [])];
  if (flags.import && remotes.length > 0) {
    const code = await importRemotes(remotes, flags, terminal);
    return reportPartial(problems, terminal) || code;
  }
  return flags.delete ? deleteOrphans(remotes, { flags, problems, terminal }) : print(loaded, flags, terminal);
}

function refuseUnsafeFlags(flags: Flags, terminal: Terminal): void {
  if (flags.delete && flags.import) throw new UsageError("Choose one: --import or --delete");
  if (flags.delete && !flags.yes && !terminal.ask) throw new UsageError("Give --yes: nobody can be asked here");
}

function print({ graph, problems, clusterID }: Loaded, flags: Flags, terminal: Terminal): number {
  const found = [
    ...markedWithoutObject(graph, clusterID).map((node) => ({ node, why: `no object ${ownerOf(node)}` })),
    ...withoutRemote(graph).map((node) => ({ node, why: "the remote is gone" })),
    ...(flags.unmanaged ? unmanaged(graph).map((node) => ({ node, why: "nobody manages it" })) : []),
  ];
  const lines = found.map(({ node, why }) => ({ node, cells: [...cellsOf(node, graph), why], more: { why } }));
  printNodes(["What", "Namespace", "ID", "Used by", "Why"], lines, flags, terminal);
  if (clusterID === undefined) problems.push("Set CLUSTER_ID: the uid of kube-system cannot be read");
  if (lines.length === 0 && problems.length === 0) terminal.warn("There are no orphans");
  return reportPartial(problems, terminal);
}

/** The name that an object of a remote had may be taken by now, so names are made as for any other remote. */
function importRemotes(
  remotes: readonly Node[],
  { output: _, ...account }: Flags,
  terminal: Terminal,
): Promise<number> {
  const ids = remotes.flatMap(({ id }) => id ?? []);
  return importAccount(ids, { ...account, nameFrom: "domain", mark: true, excludeManaged: false }, terminal);
}

const cellsOf = (node: Node, { sessions }: Graph): string[] => [
  node.object ? titleOf(node) : node.kind.kind,
  node.object?.metadata.namespace ?? "",
  node.id ?? "",
  String(usersOf(node).length + sessionsOf(sessions, node.id).length),
];

const markOf = ({ remote }: Node): string | undefined => remote && ownerMarkOf(remote);

const ownerOf = (node: Node): string => markOf(node)?.split("/").slice(-2).join("/") ?? "";

/**
 * Remotes that objects of this cluster left behind. A remote does not count if its object may exist in a namespace that
 * could not be read.
 */
export const markedWithoutObject = ({ nodes, isRead }: Graph, clusterID: string | undefined): Node[] =>
  nodes.filter((node) => {
    if (node.object || clusterID === undefined || !markOf(node)?.startsWith(`${clusterID}/`)) return false;
    const [namespace = ""] = ownerOf(node).split("/");
    return isRead(node.kind, namespace);
  });

/** Objects whose remote is gone. An object does not count if the list of its remotes failed. */
export const withoutRemote = ({ nodes, listed }: Graph): Node[] =>
  nodes.filter(({ kind, id, object, remote }) => object && id !== undefined && !remote && listed.has(kind));

/** Remotes without an object and without an owner mark. */
export const unmanaged = ({ nodes }: Graph): Node[] =>
  nodes.filter((node) => !node.object && markOf(node) === undefined);
