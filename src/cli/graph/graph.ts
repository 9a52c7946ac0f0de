import type { Remote } from "../../gateway/resource.ts";
import { idFromSpec } from "../../objects/identity.ts";
import { conditionOf, type ManagedObject } from "../../objects/object.ts";
import { answerFieldsOf } from "../../schema/common.ts";
import type { Answer, Kind } from "../../schema/define.ts";
import { membersIn } from "../../schema/traits.ts";
import { toStatus } from "../../schema/wire/answer.ts";
import { returnedAs, snakeCase } from "../../schema/wire/names.ts";
import { needsOf, targetKindsOf } from "../../schema/wire/needs.ts";
import { referencedValues, valuesReferencing } from "../../schema/wire/uses.ts";
import { nameIn, type Scope } from "../cluster/scope.ts";
import { cut } from "../terminal/table.ts";
import { connectListeners } from "./listeners.ts";
import type { SessionGroup } from "./sessions.ts";

/** An object, a remote, or an object together with its remote. */
export interface Node {
  kind: Kind;
  /** Unset for an object whose remote does not exist yet. */
  id?: string;
  remote?: Remote;
  object?: ManagedObject;
  /** The nodes to which this one refers. */
  uses: Set<Node>;
  usedBy: Set<Node>;
  /** The spec fields that refer to each of these nodes. */
  fields: Map<Node, Set<string>>;
  /** Domains at whose host this node listens. No id connects them: an edge has its address as text. */
  listensAt: Set<Node>;
  listeners: Set<Node>;
}

/** The objects and remotes of a cluster and an account, and which of them uses which. */
export interface Graph {
  nodes: Node[];
  /** Kinds whose remotes were listed. Of these, a remote that is absent here does not exist. */
  listed: ReadonlySet<Kind>;
  /** Whether the objects of a kind in a namespace were read. Then an object that is absent here does not exist. */
  isRead: IsRead;
  /** Sessions of agents, grouped by credential. Empty if they were not read. */
  sessions: readonly SessionGroup[];
}

export type IsRead = (kind: Kind, namespace: string) => boolean;

export function graphOf(
  remotes: ReadonlyMap<Kind, readonly Remote[]>,
  objects: ReadonlyMap<Kind, ManagedObject[]>,
  { isRead = () => true, sessions = [] }: Partial<Pick<Graph, "isRead" | "sessions">> = {},
): Graph {
  const kinds = new Set([...remotes.keys(), ...objects.keys()]);
  const nodes = [...kinds].flatMap((kind) => nodesOf(kind, remotes.get(kind) ?? [], objects.get(kind) ?? []));
  // first, so that what a node uses stands in the order of its spec
  connectObjects(nodes);
  for (const kind of kinds) connectRemotes(kind, nodes);
  connectListeners(nodes);
  return { nodes, listed: new Set(remotes.keys()), isRead, sessions };
}

function nodesOf(kind: Kind, remotes: readonly Remote[], objects: readonly ManagedObject[]): Node[] {
  const fresh = (): Node => ({
    kind,
    uses: new Set(),
    usedBy: new Set(),
    fields: new Map(),
    listensAt: new Set(),
    listeners: new Set(),
  });
  const byID = new Map(remotes.map((remote): [string, Node] => [remote.id, { ...fresh(), id: remote.id, remote }]));
  const more = objects.flatMap((object): Node[] => {
    const id = object.status?.id ?? idFromSpec(kind, object);
    const known = id === undefined ? undefined : byID.get(id);
    if (known && !known.object) {
      known.object = object;
      return [];
    }
    return [{ ...fresh(), ...(id !== undefined && { id }), ...(known?.remote && { remote: known.remote }), object }];
  });
  return [...byID.values(), ...more];
}

/** Connects by the ids and other values in the answers of the service. */
function connectRemotes(user: Kind, nodes: readonly Node[]): void {
  const byValue = targetsByValue(user, nodes);
  const fields = fieldsByMember(user);
  for (const node of nodes.filter(({ kind }) => kind === user)) {
    for (const [member, value] of Object.entries(node.remote ?? {})) {
      const targets = [...referencedValues(user.spec, { [member]: value })].flatMap((one) => byValue.get(one) ?? []);
      connect(node, targets, fields.get(member) ?? member);
    }
  }
}

/** Remotes to which remotes of kind `user` may refer, by the value that such a reference has. */
function targetsByValue(user: Kind, nodes: readonly Node[]): ReadonlyMap<string, Node[]> {
  const targets = new Set(targetKindsOf(user.spec));
  const byValue = new Map<string, Node[]>();
  for (const node of nodes) {
    if (!node.remote || !targets.has(node.kind.kind)) continue;
    const status = { ...(toStatus(answerFieldsOf(node.kind), node.remote) as object), id: node.remote.id };
    for (const value of valuesReferencing(user.spec, { kind: node.kind.kind, status })) {
      const found = byValue.get(value);
      if (found) found.push(node);
      else byValue.set(value, [node]);
    }
  }
  return byValue;
}

/** For each member of the answer: the spec field that it shows. */
const fieldsByMember = ({ spec }: Kind): ReadonlyMap<string, string> =>
  new Map(membersIn(spec).map(([field, member]) => [returnedAs(field, member), field]));

/** Connects by the specs, for remotes that do not exist yet or that no list shows. */
function connectObjects(nodes: readonly Node[]): void {
  const byName = new Map(nodes.flatMap((node) => (node.object ? [[nameKey(node.object, node.kind.kind), node]] : [])));
  const byID = new Map(nodes.flatMap((node) => (node.id === undefined ? [] : [[node.id, node]])));
  for (const node of nodes) {
    for (const target of node.object ? targetsOf(node.kind, node.object) : []) {
      const found = target.id === undefined ? byName.get(target.name) : byID.get(target.id);
      connect(node, found ? [found] : [], target.field);
    }
  }
}

interface Target {
  field: string;
  id?: string | undefined;
  name: string;
}

/** The targets of a spec's references: ids and objects. */
function targetsOf({ spec }: Kind, object: ManagedObject): Target[] {
  return needsOf(spec, object.spec).flatMap((need) => {
    if (need.type !== "reference") return [];
    const { kind = need.trait.kinds[0] ?? "", name = "", id } = need.to;
    const [field = ""] = need.path.split(/[.[]/);
    return [{ field, id, name: nameKey({ metadata: { namespace: object.metadata.namespace, name } }, kind) }];
  });
}

const nameKey = ({ metadata }: { metadata: { namespace: string; name: string } }, kind: string): string =>
  `${kind} ${metadata.namespace}/${metadata.name}`;

function connect(user: Node, targets: readonly Node[], field: string): void {
  for (const target of targets) {
    if (target === user) continue;
    user.uses.add(target);
    target.usedBy.add(user);
    user.fields.set(target, (user.fields.get(target) ?? new Set()).add(field));
  }
}

/** Nodes that refer to this one, and nodes that listen at it. */
export const usersOf = ({ usedBy, listeners }: Node): Node[] => [...usedBy, ...listeners];

/** For messages. A remote without an object is named by its id. */
export function titleOf({ kind, id, object }: Node, scope?: Scope): string {
  if (!object) return `${kind.kind} ${id}`;
  return scope ? nameIn(scope, kind.kind, object.metadata) : `${kind.kind}/${object.metadata.name}`;
}

/** For a table with a column of its own for namespaces and one for ids. */
export const cellOf = (node: Node): string =>
  node.object ? titleOf(node) : `${node.kind.kind} ${knownAs(node.kind, node.remote) || node.id}`;

/** Members of answers by which people know a remote, besides those that its kind names. */
const KNOWN_BY = ["subject_common_name", "description"];

const LONGEST = 40;

/** The domain, address, subject or description of a remote. Empty: it has none. */
export function knownAs({ naturalKey, address }: Kind, remote: Answer | undefined): string {
  const members = [...[naturalKey ?? [], address ?? []].flat().map(snakeCase), ...KNOWN_BY];
  const text = members.map((member) => remote?.[member]).find((one) => typeof one === "string" && one !== "") as
    | string
    | undefined;
  return cut(text ?? "", LONGEST);
}

export interface ReadyState {
  status: string;
  reason: string;
  message: string;
}

/** The Ready condition of the object. A node without an object has none. */
export function readyOf({ object }: Pick<Node, "object">): ReadyState {
  const { status = "", reason = "", message = "" } = conditionOf(object?.status, "Ready") ?? {};
  return { status, reason, message };
}
