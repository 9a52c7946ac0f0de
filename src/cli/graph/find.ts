import { includes, placeOf, type Scope } from "../cluster/scope.ts";
import { CommandError } from "../terminal/terminal.ts";
import type { Graph, Node } from "./graph.ts";
import { kindNamed, type Wanted } from "./named.ts";

/**
 * The nodes that a user names: by id, or by the name of an object in the scope. What is not found becomes a problem.
 * Throws CommandError if nothing is found; if there are problems, the message says that it may exist nevertheless.
 */
export function findNodes(graph: Graph, wanted: readonly Wanted[], scope: Scope, problems: string[]): Node[] {
  const found = new Set<Node>();
  const missing: string[] = [];
  for (const one of wanted) {
    const nodes = nodesOf(graph, one, scope);
    for (const node of nodes) found.add(node);
    if (nodes.length === 0) missing.push(missingOf(graph, one, scope));
  }
  if (found.size === 0) {
    if (problems.length === 0) throw new CommandError(missing.join("; "));
    const texts = wanted.map(({ text }) => text).join(", ");
    throw new CommandError(`What could be read has no object and no remote called ${texts}:`, { details: problems });
  }
  problems.push(...missing);
  return [...found];
}

function nodesOf({ nodes }: Graph, wanted: Wanted, scope: Scope): Node[] {
  const byID = nodes.filter(({ id, kind }) => id === wanted.name && (wanted.kind ?? kind) === kind);
  return byID.length > 0 ? byID : named(nodes, wanted).filter((node) => includes(scope, namespaceOf(node)));
}

const named = (nodes: readonly Node[], { kind, name }: Wanted): Node[] =>
  nodes.filter((node) => node.object?.metadata.name === name && (kind ?? node.kind) === node.kind);

const namespaceOf = ({ object }: Node): string | undefined => object?.metadata.namespace;

function missingOf({ nodes }: Graph, wanted: Wanted, scope: Scope): string {
  const { kind, name } = wanted;
  const elsewhere = [...new Set(named(nodes, wanted).flatMap((node) => namespaceOf(node) ?? []))].sort();
  const what = kind ? `${kind.kind} "${name}"` : `object "${name}"`;
  const there = elsewhere.length > 0 ? `: it is in ${elsewhere.join(", ")}, see -n` : "";
  const orID = kind || elsewhere.length > 0 ? "" : ", and no remote with this id";
  const isKind = kind === undefined && kindNamed(name) !== undefined;
  return `There is no ${what} in ${placeOf(scope)}${orID}${there}${isKind ? `: ${name} is a kind, so add a name` : ""}`;
}
