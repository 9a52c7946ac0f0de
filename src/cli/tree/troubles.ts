import { isDeleting } from "../../objects/object.ts";
import { type Node, readyOf } from "../graph/graph.ts";
import { isStalled } from "../status/summary.ts";

/**
 * Whether an object is not Ready, by its condition. An object that nobody has looked at says nothing. One that is being
 * deleted is no trouble for those that use it: its remote works until it is gone.
 */
const isTroubled = (node: Node): boolean =>
  !["True", ""].includes(readyOf(node).status) && !(node.object && isDeleting(node.object));

/**
 * For each node that is Ready itself, the worst of those that it leads to: one that needs a person before one that waits,
 * and of these the nearest. `below`: what a node leads to.
 */
export function troublesOf(nodes: readonly Node[], below: (node: Node) => readonly Node[]): ReadonlyMap<Node, Node> {
  const uses = nodes.flatMap((user) => below(user).map((used) => ({ user, used })));
  const above = Map.groupBy(uses, ({ used }) => used);
  const found = new Map<Node, Node>();
  const troubled = nodes.filter(isTroubled);
  const [stalled, others] = [true, false].map((isFirst) =>
    troubled.filter(({ object }) => (object !== undefined && isStalled(object)) === isFirst),
  );
  for (const worst of [stalled, others]) spread(worst ?? [], above, found);
  return new Map([...found].filter(([node]) => readyOf(node).status === "True"));
}

/** The nearest come first, since those above are looked at in turn. What has its worst keeps it. */
function spread(troubled: readonly Node[], above: ReadonlyMap<Node, { user: Node }[]>, found: Map<Node, Node>): void {
  const open = troubled.map((node) => ({ node, trouble: node }));
  for (const { node, trouble } of open)
    for (const { user } of above.get(node) ?? []) {
      if (found.has(user)) continue;
      found.set(user, trouble);
      open.push({ node: user, trouble });
    }
}
