import { kinds } from "../../kinds/index.ts";
import { ownerMarkOf } from "../../objects/ownership.ts";
import type { Kind } from "../../schema/define.ts";
import { targetKindsOf } from "../../schema/wire/needs.ts";
import { type AccountFlags, findCredentials } from "../account/credentials.ts";
import { AccountReader } from "../account/reader.ts";
import { type Graph, type Node, titleOf, usersOf } from "../graph/graph.ts";
import { isListener } from "../graph/listeners.ts";
import { load } from "../graph/load.ts";
import { sessionsOf, sessionsUse } from "../graph/sessions.ts";
import { CommandError, type Terminal } from "../terminal/terminal.ts";

interface Options {
  flags: AccountFlags & { yes?: boolean };
  /** One line for each thing that could not be read. */
  problems: readonly string[];
  terminal: Terminal;
}

/**
 * Deletes remotes that have no object, and asks for each. Right before each deletion cluster and account are read
 * again: what is used by then, has an object or another mark, stays.
 */
export async function deleteOrphans(nodes: readonly Node[], { flags, problems, terminal }: Options): Promise<number> {
  if (problems.length > 0)
    throw new CommandError(`Nothing is deleted, since not everything could be read: ${problems.join("; ")}`);
  await using reader = new AccountReader(await findCredentials(flags));
  let code = 0;
  for (const node of usersFirst(nodes)) {
    if (!flags.yes && !(await terminal.ask?.(`Delete ${titleOf(node)}?`))) continue;
    if (!(await deleteOne(node, reader, flags, terminal))) code = 1;
  }
  return code;
}

/** False: the remote was not deleted. */
async function deleteOne(node: Node, reader: AccountReader, flags: AccountFlags, terminal: Terminal): Promise<boolean> {
  try {
    const reason = await reasonToKeep(node, reader, flags, terminal);
    if (reason !== undefined) throw new CommandError(reason);
    await reader.delete(node.kind.resource, node.id ?? "");
    terminal.say(`Deleted ${titleOf(node)}`);
    return true;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    terminal.warn(`Kept ${titleOf(node)}: ${error.message}`);
    return false;
  }
}

/** Sorts orphans so that each comes before the orphans that it uses. */
function usersFirst(nodes: readonly Node[]): Node[] {
  const sorted = new Set<Node>();
  const visit = (node: Node, above: readonly Node[]): void => {
    if (sorted.has(node) || above.includes(node)) return;
    for (const user of usersOf(node)) if (nodes.includes(user)) visit(user, [...above, node]);
    sorted.add(node);
  };
  for (const node of nodes) visit(node, []);
  return [...sorted];
}

async function reasonToKeep(
  node: Node,
  reader: AccountReader,
  flags: AccountFlags,
  terminal: Terminal,
): Promise<string | undefined> {
  const { graph, problems } = await load(flags, terminal, { listed: [node.kind, ...using(node.kind)], sessions: true });
  if (problems.length > 0) return problems.join("; ");
  const now = graph.nodes.find(({ kind, id }) => kind === node.kind && id === node.id);
  if (!now?.remote) return "it is gone";
  if (now.object) return `it has the object ${titleOf(now)} now`;
  // A list may leave out the mark.
  const remote = await reader.get(node.kind.resource, now.remote.id);
  if (!remote) return "it is gone";
  if (node.remote && ownerMarkOf(remote) !== ownerMarkOf(node.remote)) return "somebody else has marked it";
  const [user] = [...usersOf(now), ...adopting(graph, node)];
  if (user) return `${titleOf(user)} uses it or is to adopt it`;
  const sessions = sessionsOf(graph.sessions, node.id).length;
  return sessions > 0 ? `${sessionsUse(sessions)} it` : undefined;
}

/** The kinds of which a remote may use one of this kind. */
const using = ({ kind, address }: Kind): Kind[] =>
  kinds.filter((one) => targetKindsOf(one.spec).includes(kind) || (address !== undefined && isListener(one)));

const adopting = ({ nodes }: Graph, { id }: Node): Node[] =>
  nodes.filter(({ object }) => object?.spec.adopt?.id !== undefined && object.spec.adopt.id === id);
