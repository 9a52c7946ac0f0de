import { readAccountConfig } from "../../config.ts";
import { kinds } from "../../kinds/index.ts";
import { ownerMarkOf } from "../../objects/ownership.ts";
import { AccountChanges } from "../../plan/account-changes.ts";
import type { Kind } from "../../schema/define.ts";
import { type AccountFlags, findCredentials } from "../account/credentials.ts";
import { knownAs, type Node, titleOf, usersOf } from "../graph/graph.ts";
import { isListener } from "../graph/listeners.ts";
import { type Loaded, load } from "../graph/load.ts";
import { sessionsOf, sessionsUse } from "../graph/sessions.ts";
import { CommandError, type Terminal } from "../terminal/terminal.ts";

interface Options {
  flags: AccountFlags & { yes?: boolean };
  loaded: Loaded;
  terminal: Terminal;
}

/**
 * Deletes remotes that no object needs, and asks for each. Right before each deletion the cluster is read again, and the
 * reconciler's own checks decide: what is used by then, has an object or another mark, stays.
 */
export async function deleteOrphans(nodes: readonly Node[], { flags, loaded, terminal }: Options): Promise<number> {
  const { problems, clusterID } = loaded;
  if (problems.length > 0)
    throw new CommandError(`Nothing is deleted, since not everything could be read: ${problems.join("; ")}`);
  if (clusterID === undefined)
    throw new CommandError("Set CLUSTER_ID: nothing is deleted, since the uid of kube-system cannot be read");
  const { deletesPerMinute, dnsResolvers } = readAccountConfig({ KUBECONFIG: flags.kubeconfig });
  const onWait = (why: string) => terminal.progress?.(why);
  const credentials = await findCredentials(flags);
  await using changes = new AccountChanges({
    ...credentials,
    deletesPerMinute,
    kinds,
    clusterID,
    dnsResolvers,
    onWait,
  });
  let code = 0;
  for (const node of usersFirst(nodes)) {
    const known = knownAs(node.kind, node.remote);
    if (!flags.yes && !(await terminal.ask?.(`Delete ${titleOf(node)}${known && ` (${known})`}?`))) continue;
    const reason = await reasonToKeep(node, changes, flags, terminal);
    if (reason === undefined) terminal.say(`Deleted ${titleOf(node)}`);
    else {
      terminal.warn(`Kept ${titleOf(node)}: ${reason}`);
      code = 1;
    }
  }
  return code;
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

/** Undefined: it was deleted. */
async function reasonToKeep(
  node: Node,
  changes: AccountChanges,
  flags: AccountFlags,
  terminal: Terminal,
): Promise<string | undefined> {
  const { kind, id = "", remote } = node;
  try {
    const { graph, objects, problems } = await load(flags, terminal, { listed: listedFor(kind), sessions: true });
    if (problems.length > 0) return problems.join("; ");
    const now = graph.nodes.find((one) => one.kind === kind && one.id === id);
    if (!now?.remote) return "it is gone";
    const [listener] = now.listeners;
    if (listener) return `${titleOf(listener)} listens at it`;
    const sessions = sessionsOf(graph.sessions, id).length;
    if (sessions > 0) return `${sessionsUse(sessions)} it`;
    return await changes.deleteLeftover(
      kind,
      { id, mark: remote && ownerMarkOf(remote) },
      [...objects.values()].flat(),
    );
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return error.message;
  }
}

/** What uses a remote and no reference shows: edges at the host of a domain, and sessions. The reconciler finds the rest. */
const listedFor = (kind: Kind): Kind[] => [
  kind,
  ...(kind.address === undefined ? [] : kinds.filter((one) => one !== kind && isListener(one))),
];
