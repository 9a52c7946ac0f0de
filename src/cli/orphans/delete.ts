import { readAccountConfig } from "../../config.ts";
import { kinds } from "../../kinds/index.ts";
import { ownerMarkOf } from "../../objects/ownership.ts";
import { AccountChanges, type Stay } from "../../plan/account-changes.ts";
import type { Kind } from "../../schema/define.ts";
import { type AccountFlags, findCredentials } from "../account/credentials.ts";
import { knownAs, type Node, titleOf, usersOf } from "../graph/graph.ts";
import { isListener } from "../graph/listeners.ts";
import { type Loaded, load } from "../graph/load.ts";
import { sortedAfter } from "../graph/reached.ts";
import { type SessionGroup, sessionsOf, sessionsUse } from "../graph/sessions.ts";
import { CommandError, type Terminal } from "../terminal/terminal.ts";

interface Options {
  flags: AccountFlags & { yes?: boolean };
  loaded: Loaded;
  terminal: Terminal;
}

/**
 * Deletes remotes that no object needs, and asks a person for each that nothing uses. Right before each deletion the
 * cluster is read again, and the reconciler's own checks decide: what is used by then, has an object or another mark,
 * stays. The same checks say whether a person is asked at all for what was used at first.
 */
export async function deleteOrphans(nodes: readonly Node[], { flags, loaded, terminal }: Options): Promise<number> {
  const { problems, clusterID } = loaded;
  if (problems.length > 0)
    throw new CommandError(`Nothing is deleted, since not everything could be read: ${problems.join("; ")}`);
  if (clusterID === undefined)
    throw new CommandError("Set CLUSTER_ID: nothing is deleted, since the uid of kube-system cannot be read");
  const { deletesPerMinute, dnsResolvers, undocumentedOperations } = readAccountConfig({
    KUBECONFIG: flags.kubeconfig,
  });
  const onWait = (why: string) => terminal.progress?.(why);
  const credentials = await findCredentials(flags);
  await using changes = new AccountChanges({
    ...credentials,
    deletesPerMinute,
    undocumented: undocumentedOperations,
    kinds,
    clusterID,
    dnsResolvers,
    onWait,
  });
  let code = 0;
  /** What the person keeps, by an answer or since it is used by something that the person keeps. */
  const declined: Node[] = [];
  // users before what they use
  for (const node of sortedAfter(nodes, usersOf)) {
    const stay = await deleteOne(node, loaded.graph.sessions, { changes, flags, terminal });
    const users = stay && declinedAmong(stay.users, declined);
    if (stay === undefined) terminal.say(`Deleted ${titleOf(node)}`);
    else if (stay === DECLINED) declined.push(node);
    else if (users) {
      terminal.warn(`Kept ${titleOf(node)}: you keep what uses it (${users.join(", ")})`);
      declined.push(node);
    } else {
      terminal.warn(`Kept ${titleOf(node)}: ${stay.reason}`);
      code = 1;
    }
  }
  return code;
}

/** A person has answered no. */
const DECLINED: Stay = { reason: "", users: [] };

/** Asks a person, unless the remote has to stay anyway. Undefined: it was deleted. */
async function deleteOne(node: Node, groups: readonly SessionGroup[], work: Work): Promise<Stay | undefined> {
  const { flags, terminal } = work;
  const wasUsed = !flags.yes && isUsed(node, groups);
  const use = wasUsed ? await stayOf(node, "checkLeftover", work) : undefined;
  if (use) return use;
  if (!(await isAgreed(node, flags, terminal))) return DECLINED;
  return stayOf(node, "deleteLeftover", work);
}

/** The titles of users of a remote, if there are any and a person keeps them all. */
function declinedAmong(users: readonly string[], declined: readonly Node[]): string[] | undefined {
  const keeping = declined.filter(({ id = "" }) => users.includes(id));
  return users.length > 0 && keeping.length === new Set(users).size ? keeping.map((one) => titleOf(one)) : undefined;
}

async function isAgreed(node: Node, { yes }: Options["flags"], terminal: Terminal): Promise<boolean> {
  const known = knownAs(node.kind, node.remote);
  return yes || ((await terminal.ask?.(`Delete ${titleOf(node)}${known && ` (${known})`}?`)) ?? false);
}

/** Whether something used the remote when the command began. */
const isUsed = (node: Node, groups: readonly SessionGroup[]): boolean =>
  usersOf(node).length > 0 || sessionsOf(groups, node.id).length > 0;

/** What uses a remote and no reference shows. */
function useBeside({ id, listeners }: Node, groups: readonly SessionGroup[]): Stay | undefined {
  const [listener] = listeners;
  const users = [...listeners].map((one) => one.id ?? "");
  if (listener) return { reason: `${titleOf(listener)} listens at it`, users };
  const sessions = sessionsOf(groups, id).length;
  return sessions > 0 ? { reason: `${sessionsUse(sessions)} it`, users: [] } : undefined;
}

interface Work extends Omit<Options, "loaded"> {
  changes: AccountChanges;
}

/** Why the remote has to stay by now. Undefined: it was deleted or, if this only asks, may be. */
async function stayOf(
  node: Node,
  how: "checkLeftover" | "deleteLeftover",
  { changes, flags, terminal }: Work,
): Promise<Stay | undefined> {
  const { kind, id = "", remote } = node;
  try {
    const { graph, objects, problems } = await load(flags, terminal, { listedKinds: listedFor(kind), sessions: true });
    if (problems.length > 0) return keptFor(problems.join("; "));
    const now = graph.nodes.find((one) => one.kind === kind && one.id === id);
    if (!now?.remote) return keptFor("it is gone");
    const use = useBeside(now, graph.sessions);
    if (use) return use;
    return await changes[how](kind, { id, mark: remote && ownerMarkOf(remote) }, [...objects.values()].flat());
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return keptFor(error.message);
  }
}

const keptFor = (reason: string): Stay => ({ reason, users: [] });

/** What uses a remote and no reference shows: edges at the host of a domain, and sessions. The reconciler finds the rest. */
const listedFor = (kind: Kind): Kind[] => [
  kind,
  ...(kind.address === undefined ? [] : kinds.filter((one) => one !== kind && isListener(one))),
];
