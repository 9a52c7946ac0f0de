import { updateMembers } from "../../gateway/resource.ts";
import { canBeLeft, keepersAmong } from "../../objects/leftover.ts";
import { isObserver, nameOf, releasedTo } from "../../objects/object.ts";
import { objectOf, ownerMarkOf, parseMark } from "../../objects/ownership.ts";
import type { Kind } from "../../schema/define.ts";
import type { AccountFlags } from "../account/credentials.ts";
import { reportPartial } from "../cluster/partial.ts";
import { includes, placeOf, type Scope } from "../cluster/scope.ts";
import { type Graph, type Node, titleOf, usersOf } from "../graph/graph.ts";
import { type Loaded, load } from "../graph/load.ts";
import { printNodes } from "../graph/output.ts";
import { sessionsOf } from "../graph/sessions.ts";
import { importAccount } from "../import/import.ts";
import type { OutputFlags } from "../terminal/output.ts";
import { CommandError, type Terminal, UsageError } from "../terminal/terminal.ts";
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
  const problem = problemOfID(loaded);
  if (problem !== undefined) throw new CommandError(problem);
  const { problems, graph, clusterID, scope } = loaded;
  const all = leftovers(loaded, flags.unmanaged === true);
  const remotes = all.filter((node) => isMeant(node, scope));
  const elsewhere = [...all, ...withoutRemote(graph)].filter((node) => !isMeant(node, scope)).length;
  if (elsewhere > 0) terminal.warn(`${elsewhere} more in other namespaces: see -A`);
  if (flags.delete) {
    const code = await deleteOrphans(remotes, { loaded, flags, terminal });
    if (remotes.length === 0) terminal.warn(`There are no orphans in ${placeOf(scope)}`);
    return code;
  }
  if (clusterID === undefined) problems.push("Set CLUSTER_ID: the uid of kube-system cannot be read");
  if (!flags.import) return show(loaded, remotes, flags, terminal);
  if (remotes.length === 0 && problems.length === 0) terminal.warn(`There are no orphans in ${placeOf(scope)}`);
  const code = remotes.length > 0 ? await importRemotes(remotes, flags, terminal) : 0;
  return reportPartial(problems, terminal) || code;
}

/** By the namespace of the object, or the one in the owner mark. What nobody manages belongs to no namespace. */
function isMeant(node: Node, scope: Scope): boolean {
  const { namespace } = node.object?.metadata ?? parseMark(markOf(node)) ?? {};
  return namespace === undefined || includes(scope, namespace);
}

/**
 * What to do when the owner marks of this cluster's objects have another id than the one that this command takes for that
 * of the cluster, and none has this one. It would find no leftover here, and those of another cluster.
 */
export function problemOfID({ graph, clusterID }: Pick<Loaded, "graph" | "clusterID">): string | undefined {
  const ids = graph.nodes.flatMap(({ kind, object, remote }) => {
    const mark = remote && ownerMarkOf(remote);
    const isOwn =
      object && !isObserver(object) && releasedTo(object) === undefined && objectOf(mark) === nameOf(object);
    // Of a kind without an update, a remote keeps a mark with a former id.
    return isOwn && updateMembers(kind.resource).includes("metadata") ? (parseMark(mark)?.cluster ?? []) : [];
  });
  const [other] = ids;
  if (clusterID === undefined || other === undefined || ids.includes(clusterID)) return undefined;
  return `Set CLUSTER_ID as the operator has it: the owner marks of this cluster's objects have the id ${other}`;
}

function refuseUnsafeFlags(flags: Flags, terminal: Terminal): void {
  if (flags.yes && !flags.delete) throw new UsageError("Give --delete too, or leave --yes out: only --delete asks");
  if (flags.delete && flags.import) throw new UsageError("Choose one: --import or --delete");
  if (flags.delete && !flags.yes && !terminal.ask) throw new UsageError("Give --yes: nobody can be asked here");
}

function show(loaded: Loaded, remotes: readonly Node[], flags: Flags, terminal: Terminal): number {
  const { graph, problems, scope } = loaded;
  const isMarked = (node: Node) => markOf(node) !== undefined;
  const shown = new Set(remotes);
  const whyOf = (node: Node) => ({ node, why: reasonOf(node, loaded) });
  const found = [
    ...remotes.filter(isMarked).map(whyOf),
    ...withoutRemote(graph)
      .filter((node) => isMeant(node, scope))
      .map((node) => ({ node, why: "the remote is gone" })),
    ...remotes.filter((node) => !isMarked(node)).map(whyOf),
  ];
  const lines = found.map(({ node, why }) => ({
    node,
    cells: [...cellsOf(node, graph), `${why}${deletedFirst(node, shown)}`],
    more: { why },
  }));
  printNodes(["What", "Namespace", "ID", "Used by", "Why"], lines, flags, terminal);
  if (lines.length === 0 && problems.length === 0) terminal.warn(`There are no orphans in ${placeOf(scope)}`);
  return reportPartial(problems, terminal);
}

/** What `--delete` deletes before this one: the orphans that use it. */
function deletedFirst(node: Node, remotes: ReadonlySet<Node>): string {
  const users = usersOf(node).filter((user) => remotes.has(user));
  return users.length > 0 ? `; --delete begins with ${users.map((user) => titleOf(user)).join(", ")}` : "";
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

/** Why a remote is a leftover, for people. */
export function reasonOf(node: Node, { objects }: Pick<Loaded, "objects">): string {
  const mark = markOf(node);
  if (mark === undefined) return "nobody manages it";
  const owner = objectOf(mark);
  const other = objects.get(node.kind)?.find((object) => nameOf(object) === owner);
  return other ? `${owner} has ${other.status?.id}` : `no object ${owner}`;
}

type Judged = Pick<Loaded, "graph" | "objects" | "clusterID">;

/**
 * Remotes that objects of this cluster left behind, and with `isUnmanaged` also those without an owner mark. A remote
 * does not count if the service has made it itself, if an object may need it, or if its object may exist in a namespace
 * that could not be read.
 */
export function leftovers({ graph, objects, clusterID }: Judged, isUnmanaged: boolean): Node[] {
  if (clusterID === undefined && !isUnmanaged) return [];
  return [...Map.groupBy(graph.nodes, ({ kind }) => kind)].flatMap(([kind, nodes]) => {
    const listed = new Set(nodes.flatMap(({ id, remote }) => (remote && id) ?? []));
    const exists = (id: string) => listed.has(id);
    const keeperOf = keepersAmong(kind, { clusterID: clusterID ?? "", objects: objects.get(kind) ?? [], exists });
    return nodes.filter(
      (node) =>
        !node.object &&
        node.remote !== undefined &&
        canBeLeft(kind) &&
        !kind.isMadeByService(node.remote) &&
        isOurs(markOf(node), graph, { kind, clusterID, isUnmanaged }) &&
        keeperOf(node.remote) === undefined,
    );
  });
}

function isOurs(
  mark: string | undefined,
  { isRead }: Graph,
  { kind, clusterID, isUnmanaged }: { kind: Kind; clusterID: string | undefined; isUnmanaged: boolean },
): boolean {
  if (mark === undefined) return isUnmanaged;
  const owner = parseMark(mark);
  return owner !== undefined && owner.cluster === clusterID && isRead(kind, owner.namespace);
}

/** Objects whose remote is gone. An object does not count if the list of its remotes failed. */
export const withoutRemote = ({ nodes, listed }: Graph): Node[] =>
  nodes.filter(({ kind, id, object, remote }) => object && id !== undefined && !remote && listed.has(kind));
