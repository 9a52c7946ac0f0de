import { counted } from "../../schema/nouns.ts";
import { includes, type Scope } from "../cluster/scope.ts";
import type { Graph, Node } from "../graph/graph.ts";
import { keyOf } from "../graph/output.ts";
import { type SessionGroup, sessionsOf, type TunnelSession } from "../graph/sessions.ts";
import {
  byTitle,
  entriesOf,
  type Forest,
  type Item,
  itemKey,
  modulesOf,
  tunnelsOf,
  usedOutsideModules,
} from "./items.ts";
import { placesOf } from "./places.ts";
import { silentAmong } from "./silent.ts";
import { troublesOf } from "./troubles.ts";

interface Options {
  /** Draw the tree from used nodes to their users. */
  up?: boolean | undefined;
  /** The roots. Default: all nodes in the scope that no other node there uses. */
  from?: readonly Node[] | undefined;
  /** Default: all namespaces, and what has none. */
  scope?: Scope | undefined;
  /** Most tunnels, sessions, or session credentials below one item. The others are counted. Default: all. */
  most?: number | undefined;
}

/** The trees of an account, and of the sessions that its agents have. */
export function forestOf(graph: Graph, options: Options = {}): Forest {
  const { up, from, most = Number.POSITIVE_INFINITY, scope = { namespace: "", isAll: true } } = options;
  const { sessions: groups } = graph;
  const downwards = new Downwards(groups, most);
  const below = up ? usersOf : downwards.below;
  const meant = graph.nodes.filter(({ object }) => includes(scope, object?.metadata.namespace));
  const roots = (from ?? rootsOf(meant, below)).map(itemOf);
  const ours = new Set(graph.nodes.map(({ id }) => id));
  const others = from || up || !scope.isAll ? [] : groups.filter(({ credential }) => !ours.has(credential));
  const namespace = scope.isAll ? undefined : scope.namespace;
  return { roots: [...roots, ...credentialsOf(others, most)], below, troubles: troublesIn(graph), namespace };
}

/** For each node that is Ready, the worst below it that is not. */
export const troublesIn = (graph: Pick<Graph, "nodes" | "sessions">): ReadonlyMap<Node, Node> =>
  troublesOf(graph.nodes, wayDown(graph));

/** The domains and addresses that lead to tunnels, of which there are none, and to nothing else that answers. */
export const silentIn = (graph: Pick<Graph, "nodes" | "sessions">): Node[] => silentAmong(graph.nodes, wayDown(graph));

/** What is below a node, found once for each. A module that is switched off leads nowhere. */
function wayDown({ nodes, sessions }: Pick<Graph, "nodes" | "sessions">): (node: Node) => readonly Node[] {
  const { below } = new Downwards(sessions, 0);
  const inUse = (item: Item) => below(item).filter((one) => one.type !== "module" || one.module.isOn);
  const known = found.get(nodes) ?? new Map<Node, readonly Node[]>();
  found.set(nodes, known);
  return (node) => {
    const kept = known.get(node) ?? nodesBelow(node, inUse);
    known.set(node, kept);
    return kept;
  };
}

/** By the nodes of a graph, which do not change once it is made. */
const found = new WeakMap<readonly Node[], Map<Node, readonly Node[]>>();

const itemOf = (node: Node): Item => ({ type: "node", node });

/**
 * Whether `node` stands below `used`, although it is its user: a listener below its address, since people look for the
 * address first, and an entry below the resource that has the list.
 */
const standsBelow = ({ kind: { location } }: Node, used: Node): boolean =>
  used.kind.address !== undefined || (location.type === "entry" && location.parent.kind === used.kind.kind);

class Downwards {
  readonly #groups: readonly SessionGroup[];
  readonly #most: number;

  constructor(groups: readonly SessionGroup[], most: number) {
    this.#groups = groups;
    this.#most = most;
  }

  readonly below = (item: Item): Item[] => {
    switch (item.type) {
      case "node":
        return this.#belowNode(item.node);
      case "module":
        return item.module.uses.map(itemOf);
      case "credential":
        return this.#sessionItems(itemKey(item), item.group.sessions);
      default:
        return [];
    }
  };

  #belowNode(node: Node): Item[] {
    const plain = [
      ...usedOutsideModules(node).filter((used) => !standsBelow(node, used)),
      ...[...node.usedBy].filter((user) => standsBelow(user, node)),
      ...node.listeners,
    ];
    const places = placesOf(node);
    const inOrder = [...places].map(([used, place]): Item => ({ type: "node", node: used, place }));
    return [
      ...inOrder,
      ...plain
        .filter((one) => !places.has(one))
        .sort(byTitle)
        .map(itemOf),
      ...modulesOf(node).map((module): Item => ({ type: "module", of: node, module })),
      ...this.#partsOf(keyOf(node), entriesOf(node), ["more entry", "more entries"]),
      ...this.#tunnelsOf(node),
      ...this.#sessionItems(keyOf(node), sessionsOf(this.#groups, node.id)),
    ];
  }

  #tunnelsOf(node: Node): Item[] {
    const of = keyOf(node);
    const tunnels = tunnelsOf(node);
    if (tunnels?.length === 0) return [{ type: "rest", of, text: "no tunnels" }];
    return this.#partsOf(of, tunnels?.map((id) => ({ kind: "Tunnel", id })) ?? [], ["more tunnel"]);
  }

  #partsOf(of: string, parts: readonly { kind: string; id: string }[], noun: [one: string, many?: string]): Item[] {
    const items = parts.map((part): Item => ({ type: "part", ...part }));
    return bounded(items, this.#most, (count) => ({ type: "rest", of, text: `and ${counted(count, ...noun)}` }));
  }

  #sessionItems(of: string, sessions: readonly TunnelSession[]): Item[] {
    const items = sessions.map((session): Item => ({ type: "session", session }));
    return bounded(items, this.#most, (count) => ({
      type: "rest",
      of,
      text: `and ${counted(count, "more tunnel session")}`,
    }));
  }
}

/** Credentials of sessions that are not remotes of any kind here. */
const credentialsOf = (groups: readonly SessionGroup[], most: number): Item[] =>
  bounded(
    groups.map((group): Item => ({ type: "credential", group })),
    most,
    (count) => {
      const sessions = groups.slice(-count).reduce((sum, group) => sum + group.sessions.length, 0);
      const text = `and ${counted(count, "more credential")} with ${counted(sessions, "tunnel session")}`;
      return { type: "rest", of: "Credentials", text };
    },
  );

/** The first items, and one that counts the others. */
function bounded(items: readonly Item[], most: number, rest: (count: number) => Item): Item[] {
  const more = items.length - most;
  return more > 0 ? [...items.slice(0, most), rest(more)] : [...items];
}

function usersOf(item: Item): Item[] {
  if (item.type !== "node") return [];
  const { node } = item;
  const above = [...node.usedBy].filter((user) => !standsBelow(user, node));
  const users = above.sort(byTitle).map((user): Item => {
    const through = modulesOf(user).find(({ uses }) => uses.includes(node));
    return { type: "node", node: user, through: through?.name };
  });
  const bases = [...[...node.uses].filter((used) => standsBelow(node, used)), ...node.listensAt];
  return [...users, ...bases.sort(byTitle).map(itemOf)];
}

/** What nothing is above, and of each circle that is below none of these, its first node. */
function rootsOf(nodes: readonly Node[], below: Forest["below"]): Node[] {
  const sorted = nodes.toSorted(byTitle);
  const children = new Map(nodes.map((node) => [node, nodesBelow(node, below)]));
  const under = new Set([...children.values()].flat());
  const reached = new Set<Node>();
  const reach = (root: Node): void => {
    const open = [root];
    for (let node = open.pop(); node; node = open.pop()) {
      if (reached.has(node)) continue;
      reached.add(node);
      open.push(...(children.get(node) ?? []));
    }
  };
  const tops = sorted.filter((node) => !under.has(node));
  tops.forEach(reach);
  const inCircles = sorted.filter((node) => {
    if (reached.has(node)) return false;
    reach(node);
    return true;
  });
  return [...tops, ...inCircles];
}

const nodesBelow = (node: Node, below: Forest["below"]): Node[] =>
  below(itemOf(node)).flatMap((item) =>
    (item.type === "module" ? below(item) : [item]).flatMap((one) => (one.type === "node" ? one.node : [])),
  );
