import type * as z from "zod";
import type { Remote } from "../../gateway/resource.ts";
import { idFromSpec } from "../../objects/identity.ts";
import { conditionOf, type ManagedObject } from "../../objects/object.ts";
import { answerFieldsOf } from "../../schema/common.ts";
import type { Kind } from "../../schema/define.ts";
import { toStatus } from "../../schema/wire/answer.ts";
import { returnedAs } from "../../schema/wire/names.ts";
import { needsOf, targetKindsOf } from "../../schema/wire/needs.ts";
import { referencedValues, valuesReferencing } from "../../schema/wire/uses.ts";
import { connectListeners } from "./listeners.ts";
import type { SessionGroup } from "./sessions.ts";

/** An object, a remote, or both sides of the same thing. */
export interface Node {
  kind: Kind;
  /** Unset for an object whose remote does not exist yet. */
  id?: string;
  remote?: Remote;
  object?: ManagedObject;
  /** What it has in it. */
  uses: Set<Node>;
  usedBy: Set<Node>;
  /** The spec fields in which it has what it uses. */
  fields: Map<Node, Set<string>>;
  /** Domains at which it listens. No id connects the two: the address of an edge is a text. */
  listensAt: Set<Node>;
  listeners: Set<Node>;
}

/** What an account and a cluster have, and what of it uses what. */
export interface Graph {
  nodes: Node[];
  /** Kinds whose remotes were listed, so that an absent remote is gone. */
  listed: ReadonlySet<Kind>;
  /** Whether the objects of a kind in a namespace were read, so that an absent object is gone. */
  isRead: IsRead;
  /** Of agents, by their credential; none, unless they were read. */
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
  for (const kind of kinds) connectRemotes(kind, nodes);
  connectObjects(nodes);
  connectListeners(nodes);
  return { nodes, listed: new Set(remotes.keys()), isRead, sessions };
}

function nodesOf(kind: Kind, remotes: readonly Remote[], objects: readonly ManagedObject[]): Node[] {
  const fresh = (): Node => ({
    ...{ kind, uses: new Set(), usedBy: new Set(), fields: new Map() },
    ...{ listensAt: new Set(), listeners: new Set() },
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

/** By what the account says: ids and other values in the answers. */
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

/** What remotes of a kind may refer to, by the values with which they do. */
function targetsByValue(user: Kind, nodes: readonly Node[]): ReadonlyMap<string, Node[]> {
  const targets = new Set(targetKindsOf(user.spec));
  const byValue = new Map<string, Node[]>();
  for (const node of nodes) {
    if (!node.remote || !targets.has(node.kind.kind)) continue;
    const status = { ...(toStatus(answerFieldsOf(node.kind), node.remote) as object), id: node.remote.id };
    for (const value of valuesReferencing(user.spec, { kind: node.kind.kind, status }))
      byValue.set(value, [...(byValue.get(value) ?? []), node]);
  }
  return byValue;
}

/** The spec field that a member of the answer shows. */
const fieldsByMember = ({ spec }: Kind): ReadonlyMap<string, string> =>
  new Map(Object.entries(spec.shape).map(([field, member]) => [returnedAs(field, member as z.ZodType), field]));

/** By what the specs say, for what is not in the account yet or has no list. */
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

/** What a spec refers to: an id, or an object. */
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

/** What refers to it, and what listens at it. */
export const usersOf = ({ usedBy, listeners }: Node): Node[] => [...usedBy, ...listeners];

/** `namespace/name` of the object; a remote without one is named by its id. */
export const titleOf = ({ kind, id, object }: Node): string =>
  object ? `${kind.kind}/${object.metadata.name}` : `${kind.kind} ${id}`;

export interface ReadyState {
  status: string;
  reason: string;
  message: string;
}

/** What the Ready condition says; without an object there is none. */
export function readyOf({ object }: Node): ReadyState {
  const { status = "", reason = "", message = "" } = conditionOf(object?.status, "Ready") ?? {};
  return { status, reason, message };
}
