import { CommandError } from "../terminal.ts";
import type { Graph, Node } from "./graph.ts";

/** The nodes that a user means: an id, `KIND/NAME`, or a name. Throws CommandError when there are none. */
export function findNodes({ nodes }: Graph, text: string, namespace: string | undefined): Node[] {
  const [first = "", second] = text.split("/");
  const near = nodes.filter(({ object }) => namespace === undefined || object?.metadata.namespace === namespace);
  const byID = nodes.filter(({ id }) => id === text);
  const byName =
    second === undefined
      ? near.filter(({ object }) => object?.metadata.name === text)
      : near.filter(({ object, kind }) => object?.metadata.name === second && isKind(kind, first));
  const found = byID.length > 0 ? byID : byName;
  if (found.length > 0) return found;
  throw new CommandError(`There is no object and no remote called ${text}: give an id, a name, or KIND/NAME`);
}

const isKind = ({ kind, plural, shortNames }: Node["kind"], text: string): boolean =>
  [kind.toLowerCase(), plural, ...shortNames].includes(text.toLowerCase().replace(/\.tunnelgateway\.dev$/, ""));
