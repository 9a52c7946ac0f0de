import { type AccountConfig, readAccountConfig } from "../../config.ts";
import type { Remote, Resource } from "../../gateway/resource.ts";
import { tunnelSessions } from "../../gateway/resources/index.ts";
import { GatewayAccount } from "../../kinds/gateway-account.ts";
import { kinds } from "../../kinds/index.ts";
import { type ManagedObject, typeOf } from "../../objects/object.ts";
import { identityNamespace } from "../../operator/kubernetes/cluster-identity.ts";
import { namespaces } from "../../operator/kubernetes/resource-types.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isForbidden, isKindAbsent } from "../../runtime/connection/errors.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { customResourceOf } from "../../schema/common.ts";
import { GROUP } from "../../schema/contract.ts";
import type { CustomResource, Kind } from "../../schema/define.ts";
import {
  type AccountFlags,
  type Credentials,
  findCredentials,
  isNamedByFlags,
  type Sharers,
  sharersOf,
} from "../account/credentials.ts";
import { withMetadata } from "../account/listed-metadata.ts";
import { AccountFailure, AccountReader } from "../account/reader.ts";
import { type Connected, connect } from "../cluster/connect.ts";
import { refuseAbsentNamespace } from "../cluster/namespace.ts";
import { MISSING_CRDS } from "../cluster/objects.ts";
import { type Scope, scopeOf } from "../cluster/scope.ts";
import type { Part } from "../terminal/progress.ts";
import { CommandError, type Terminal } from "../terminal/terminal.ts";
import { membersOf, namespacesWithDefault } from "./accounts.ts";
import { type Graph, graphOf, type IsRead } from "./graph.ts";
import { groupsOf, type SessionGroup } from "./sessions.ts";

export interface Loaded {
  graph: Graph;
  /**
   * All objects that could be read, also those whose remotes are in other accounts. With `marks` they were read after
   * the remotes, so that each object is here whose remote is in the graph.
   */
  objects: ReadonlyMap<Kind, readonly ManagedObject[]>;
  /** One line for each thing that could not be read. If there is one, the graph is incomplete. */
  problems: string[];
  /** The id of the cluster in owner marks. Undefined: it cannot be read. */
  clusterID: string | undefined;
  /** What the flags say of namespaces. */
  scope: Scope;
}

interface LoadOptions {
  /** Kinds whose remotes are read. Default: all. */
  listedKinds?: readonly Kind[];
  /** Whether tunnel sessions are read. */
  sessions?: boolean;
  /**
   * Whether the owner marks of remotes without an object are read where lists leave them out. The objects are then read
   * again after the remotes.
   */
  marks?: boolean;
  /** Whether what the cluster knows is of use where the account cannot be read. That becomes a problem then. */
  isClusterEnough?: boolean;
  /** Whether the namespace has to exist: its objects are what the command shows. */
  isNamespaceNeeded?: boolean;
}

/** Reads the account, and all objects that the user may read. The graph has those whose remotes are in the account. */
export async function load(flags: AccountFlags, terminal: Terminal, options: LoadOptions = {}): Promise<Loaded> {
  const problems: string[] = [];
  const config = readAccountConfig({ KUBECONFIG: flags.kubeconfig });
  const loading = { flags, terminal, options, problems };
  const credentials = await findCredentials(flags).catch((error: unknown) => becomeProblem(error, loading));
  await using cluster = connect({ ...config, context: flags.context });
  const scope = scopeOf(flags, cluster.namespace);
  const read = await readObjects(cluster.client, scope, problems, terminal);
  if (options.isNamespaceNeeded) await refuseAbsentNamespace(cluster.client, scope, [...read.objects.values()].flat());
  const graph =
    (credentials &&
      (await graphIn(cluster, read, credentials, loading).catch((error: unknown) => becomeProblem(error, loading)))) ??
    graphOf(new Map(), read.objects, { isRead: read.isRead });
  const { objects } = options.marks ? await readObjects(cluster.client, scope, []) : read;
  const clusterID = await clusterIDOf(config, cluster.client);
  return { graph, objects, problems, clusterID, scope };
}

interface Loading {
  flags: AccountFlags;
  terminal: Terminal;
  options: LoadOptions;
  problems: string[];
}

/** Rethrows what is no failure of the account, and what is a mistake in the command line. */
function becomeProblem(error: unknown, { flags, options, problems }: Loading): undefined {
  const isMistake = isNamedByFlags(flags) && !(error instanceof AccountFailure);
  if (!options.isClusterEnough || isMistake || !(error instanceof CommandError)) throw error;
  if (!problems.includes(error.message)) problems.push(error.message);
}

async function graphIn(
  { client }: Connected,
  read: ReadObjects,
  credentials: Credentials,
  { flags, terminal, options, problems }: Loading,
): Promise<Graph> {
  const sharers = await sharersOf(credentials, read.accounts, { client, flags });
  await using reader = new AccountReader(credentials);
  const managed = managedIn(read);
  const isMarkNeeded = ({ id }: Remote) => options.marks === true && !managed.has(id);
  const account = await readAccount({ reader, terminal, problems, isMarkNeeded }, options);
  return graphWith(account, read, sharers);
}

/** What the lists of an account showed. */
export interface AccountRead {
  remotes: ReadonlyMap<Kind, readonly Remote[]>;
  sessions: readonly SessionGroup[];
}

/** Throws CommandError if no list can be read. */
export async function readAccount(
  reading: Reading,
  { listedKinds = kinds, sessions }: LoadOptions,
): Promise<AccountRead> {
  const remotes = await remotesOf(listedKinds, reading);
  const groups = groupsOf((sessions && (await listed(tunnelSessions, reading))) || []);
  return { remotes, sessions: groups };
}

/** Ids of the remotes that have an object. */
export const managedIn = ({ objects }: Pick<ReadObjects, "objects">): ReadonlySet<string | undefined> =>
  new Set([...objects.values()].flat().map(({ status }) => status?.id));

/** The graph of an account, with the objects whose remotes are in it. */
export function graphWith(
  { remotes, sessions }: AccountRead,
  { objects, isRead, defaults }: ReadObjects,
  sharers: Sharers,
): Graph {
  const isMember = membersOf({ sharers, objects, remotes, defaults });
  const ours = new Map([...objects].map(([kind, all]) => [kind, all.filter(isMember)]));
  return graphOf(remotes, ours, { isRead, sessions });
}

/** The graph of the objects that are not in this one, as the cluster alone knows them: those of other accounts. */
export function graphBeside({ nodes }: Graph, { objects, isRead }: ReadObjects): Graph {
  const known = new Set(nodes.map(({ object }) => object));
  const others = new Map([...objects].map(([kind, all]) => [kind, all.filter((object) => !known.has(object))]));
  return graphOf(new Map(), others, { isRead });
}

/** The remotes of each kind whose list can be read, with their owner marks. Throws CommandError if no list can be read. */
export async function readRemotes(credentials: Credentials, terminal: Terminal, problems: string[]) {
  await using reader = new AccountReader(credentials);
  return await remotesOf(kinds, { reader, terminal, problems, isMarkNeeded: () => true });
}

export interface Reading {
  reader: AccountReader;
  terminal: Terminal;
  problems: string[];
  /** Whether the owner mark of a remote is read where lists leave it out. Default: it is not. */
  isMarkNeeded?: (remote: Remote) => boolean;
  /** How many lists have been read. */
  part?: Part;
}

async function remotesOf(of: readonly Kind[], reading: Reading): Promise<Map<Kind, readonly Remote[]>> {
  const remotes = new Map<Kind, readonly Remote[]>();
  const collections = of.filter(({ location }) => location.type === "collection");
  for (const [done, kind] of collections.entries()) {
    const part = { done, all: collections.length };
    const rows = await listed(kind.resource, { ...reading, part }, remotes.size === 0);
    if (rows) remotes.set(kind, rows);
  }
  if (remotes.size === 0) throw new CommandError(reading.problems[0] ?? "The account cannot be read");
  return remotes;
}

/**
 * All remotes of a resource. Undefined, with a line in `problems`, if the list fails. `isFirst`: no list has succeeded
 * yet.
 */
async function listed(
  resource: Resource,
  { reader, terminal, problems, isMarkNeeded = () => false, part }: Reading,
  isFirst = false,
): Promise<Remote[] | undefined> {
  const show = (count: number) => terminal.progress?.(`Reading ${resource.path}: ${count}`, part);
  show(0);
  try {
    return await withMetadata(resource, await reader.list(resource, show), { reader, terminal }, isMarkNeeded);
  } catch (error) {
    const isFatal = error instanceof AccountFailure && isFirst;
    if (isFatal || !(error instanceof CommandError)) throw error;
    problems.push(error.message);
    return undefined;
  }
}

interface Which {
  /** The namespace that is read if the user may not read all. */
  namespace: string;
  /** Read only these namespaces. Default: all. */
  namespaces?: readonly string[];
}

export interface ReadObjects {
  objects: Map<Kind, ManagedObject[]>;
  isRead: IsRead;
  /** Namespaces with a GatewayAccount called `default`, which objects without `accountRef` use. */
  defaults: Set<string>;
  /** The GatewayAccounts. */
  accounts: KubeObject[];
}

/** The objects of a kind that were read. */
interface List {
  resource: CustomResource;
  /** Undefined: all namespaces. */
  where: string | undefined;
  /** Undefined: the user may not read it. */
  found: KubeObject[] | undefined;
}

/** Lists objects: with requests, or from stores that watches keep up to date. */
export type Lister = Pick<KubeClient, "listAll">;

/** Objects of all namespaces or of these. If the user may not read all namespaces: objects of one. */
export async function readObjects(
  client: Lister,
  { namespace, namespaces = [] }: Which,
  problems: string[],
  { progress }: Pick<Terminal, "progress"> = {},
): Promise<ReadObjects> {
  const lists: List[] = [];
  const all = [...kinds.map(customResourceOf), GatewayAccount];
  const read = async (resource: CustomResource, where: string | undefined): Promise<void> => {
    const found = await listAllowed(client, resource, where);
    lists.push({ resource, where, found });
    if (!found && where === undefined) await read(resource, namespace);
  };
  for (const [done, resource] of all.entries()) {
    progress?.(`Reading ${resource.plural}`, { done, all: all.length });
    for (const where of namespaces.length > 0 ? namespaces : [undefined]) await read(resource, where);
  }
  const listsOf = ({ kind }: Kind | CustomResource) => lists.filter((one) => one.resource.kind === kind && one.found);
  const objectsOf = (kind: Kind | CustomResource) => listsOf(kind).flatMap(({ found = [] }) => found);
  const seen = kinds.filter((kind) => listsOf(kind).length > 0);
  const isRead = (kind: Kind | CustomResource, where: string) => listsOf(kind).some((one) => covers(one, where));
  problems.push(...missingRights(lists, namespace, isRead));
  return {
    objects: new Map(seen.map((kind) => [kind, objectsOf(kind) as ManagedObject[]])),
    isRead,
    defaults: namespacesWithDefault(objectsOf(GatewayAccount)),
    accounts: objectsOf(GatewayAccount),
  };
}

const covers = ({ where }: List, namespace: string): boolean => where === undefined || where === namespace;

/** One line for each namespace. `namespace`: the one that was read instead of all. */
function missingRights(
  lists: readonly List[],
  namespace: string,
  isRead: (resource: CustomResource, where: string) => boolean,
): string[] {
  const refused = lists.filter(({ found }) => !found);
  const inAll = refused.filter(({ resource, where }) => where === undefined && isRead(resource, namespace));
  const inOne = Map.groupBy(
    refused.filter(({ where }) => where !== undefined),
    ({ where }) => where,
  );
  const partly = `Only objects in namespace ${namespace} are known: to see all, get the right to list`;
  return [
    ...(inAll.length > 0 ? [`${partly} ${resourcesOf(inAll)}`] : []),
    ...[...inOne].map(([where, those]) => `In namespace ${where} you need the right to list ${resourcesOf(those)}`),
  ];
}

const resourcesOf = (refused: readonly List[]): string =>
  refused.length === kinds.length + 1
    ? `all resources of ${GROUP}`
    : refused.map(({ resource: { plural } }) => `${plural}.${GROUP}`).join(", ");

/** The objects of a kind; `namespace` undefined: of all namespaces. Undefined without the right to list them. */
async function listAllowed(
  client: Lister,
  resource: CustomResource,
  namespace: string | undefined,
): Promise<KubeObject[] | undefined> {
  try {
    return (await client.listAll(typeOf(resource), { namespace })).items;
  } catch (error) {
    if (isKindAbsent(error)) throw new CommandError(MISSING_CRDS);
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

/** The id of the cluster in owner marks, for what cannot do without. Throws CommandError. */
export async function neededClusterID(config: Identity, client: Pick<KubeClient, "get">): Promise<string> {
  const id = await clusterIDOf(config, client);
  if (id !== undefined) return id;
  throw new CommandError("Set CLUSTER_ID as the operator has it, or get the right to get the namespace kube-system");
}

type Identity = Pick<AccountConfig, "clusterID" | "podNamespace" | "watchNamespaces">;

/** The id of the cluster in owner marks, as an operator with these settings has it. Undefined if it may not be read. */
export async function clusterIDOf(config: Identity, client: Pick<KubeClient, "get">): Promise<string | undefined> {
  if (config.clusterID !== undefined) return config.clusterID;
  try {
    return (await client.get(namespaces, { name: identityNamespace(config) })).metadata.uid;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
