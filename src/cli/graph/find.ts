import { CommandError, UsageError } from "../terminal/terminal.ts";
import type { Graph, Node } from "./graph.ts";

/** One text for the words with which a user names an object, as in kubectl: `NAME`, `KIND/NAME`, or `KIND NAME`. */
export function namedBy(words: readonly string[]): string {
  const [first = "", second] = words;
  if (words.length > 2 || (second !== undefined && first.includes("/")))
    throw new UsageError("Give one object: NAME, KIND/NAME or KIND NAME");
  return words.join("/");
}

/**
 * The nodes with this id, `KIND/NAME` or name. Throws CommandError if there are none. `problems`: reasons why not
 * everything could be read; the message then says that the node may exist nevertheless.
 */
export function findNodes(
  { nodes }: Graph,
  text: string,
  namespace: string | undefined,
  problems: readonly string[] = [],
): Node[] {
  const [first = "", second] = text.split("/");
  const near = nodes.filter(({ object }) => namespace === undefined || object?.metadata.namespace === namespace);
  const byID = nodes.filter(({ id }) => id === text);
  const byName =
    second === undefined
      ? near.filter(({ object }) => object?.metadata.name === text)
      : near.filter(({ object, kind }) => object?.metadata.name === second && isKind(kind, first));
  const found = byID.length > 0 ? byID : byName;
  if (found.length > 0) return found;
  if (problems.length > 0)
    throw new CommandError(`What could be read has no object and no remote called ${text}:`, { details: problems });
  throw new CommandError(`There is no object and no remote called ${text}: give an id, a name, or KIND/NAME`);
}

/** Whether the text is the kind's name, plural or short name. */
export const isKind = ({ kind, plural, shortNames }: Node["kind"], text: string): boolean =>
  [kind.toLowerCase(), plural, ...shortNames].includes(text.toLowerCase().replace(/\.tunnelgateway\.dev$/, ""));
