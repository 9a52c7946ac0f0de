import { kinds } from "../../kinds/index.ts";
import { memoize } from "../../schema/memoize.ts";
import { membersIn, traitsOf } from "../../schema/traits.ts";
import { returnedAs, snakeCase } from "../../schema/wire/names.ts";
import { cellOf, type Node } from "../graph/graph.ts";
import { keyOf } from "../graph/output.ts";
import type { SessionGroup, TunnelSession } from "../graph/sessions.ts";
import { cut } from "../terminal/table.ts";

/** A line of the tree. */
export type Item =
  /**
   * `through`: in a tree that goes upwards, the module by which this node uses the node above it. `place`: its turn or its
   * share among those that the node above it uses.
   */
  | { type: "node"; node: Node; through?: string | undefined; place?: string | undefined }
  | { type: "module"; of: Node; module: Module }
  /** A part of a remote that has no object: a tunnel of a backend, or an entry of a list. */
  | { type: "part"; kind: string; id: string }
  | { type: "session"; session: TunnelSession }
  | { type: "credential"; group: SessionGroup }
  /** Stands for further items. `of`: the key of the item above them. */
  | { type: "rest"; of: string; text: string };

/** The trees to print. */
export interface Forest {
  roots: readonly Item[];
  below: (item: Item) => readonly Item[];
  /** What is not Ready, of nodes that are Ready and lead to it. */
  troubles: ReadonlyMap<Node, Node>;
  /** The one that the user has named, so that a narrow terminal need not show it. Unset: all are meant. */
  namespace?: string | undefined;
}

/** A part of an edge or route that can be switched off. */
export interface Module {
  /** The spec field. */
  name: string;
  isOn: boolean;
  /** What it does, where that is not what it uses. Empty: nothing that can be said in short. */
  text: string;
  uses: readonly Node[];
}

/** Several namespaces may have an object of one name. */
export function byTitle(one: Node, other: Node): number {
  const [first, second] = [one, other].map((node) => `${cellOf(node)} ${node.object?.metadata.namespace} ${node.id}`);
  return first === second ? 0 : (first ?? "") < (second ?? "") ? -1 : 1;
}

/** The modules of a remote, or of a spec where no list shows the remote, in the order of the reference page. */
export const modulesOf = memoize(({ kind: { spec }, remote, object, fields }: Node): readonly Module[] => {
  return membersIn(spec).flatMap(([name, schema]) => {
    if (traitsOf(schema).module === undefined) return [];
    const value = remote ? (remote as Record<string, unknown>)[returnedAs(name, schema)] : object?.spec[name];
    const uses = [...fields].flatMap(([used, through]) => (through.has(name) ? used : [])).sort(byTitle);
    if ((value === undefined || value === null) && uses.length === 0) return [];
    const module = (value ?? {}) as Readonly<Record<string, unknown>>;
    return [{ name, isOn: module["enabled"] !== false, text: textOf(module, traitsOf(schema).module?.told), uses }];
  });
});

/** Of a value that a module has. */
const WIDEST = 60;

/** `module`: of an answer or of a spec, which name its members differently. Of a list, its length. */
const textOf = (module: Readonly<Record<string, unknown>>, told: readonly string[] = []): string =>
  told
    .map((field) => [field, module[field] ?? module[snakeCase(field)]] as const)
    .filter(([, value]) => (Array.isArray(value) ? value.length > 0 : value))
    .map(([field, value]) =>
      Array.isArray(value) ? `${value.length} ${field}` : `${field} ${cut(String(value), WIDEST)}`,
    )
    .join(", ");

/** The nodes that a node uses outside of modules. */
export function usedOutsideModules(node: Node): Node[] {
  const inModules = new Set(modulesOf(node).flatMap(({ uses }) => uses));
  return [...node.uses].filter((used) => !inModules.has(used));
}

/** The ids of list entries without an object, and the kind that such objects have. */
export function entriesOf({ kind, id, remote, usedBy }: Node): { kind: string; id: string }[] {
  return kinds.flatMap(({ kind: entry, location }) => {
    if (location.type !== "entry" || location.parent.kind !== kind.kind) return [];
    const rows = (remote as Record<string, unknown> | undefined)?.[location.parent.list] as Record<string, string>[];
    const known = new Set([...usedBy].map((user) => user.id));
    return (rows ?? [])
      .map((row) => ({ kind: entry, id: `${id}/${row[location.keyMember]}` }))
      .filter((one) => !known.has(one.id));
  });
}

/** The ids of the tunnels of a backend. Undefined: it is no such backend. */
export function tunnelsOf({ kind, remote }: Node): string[] | undefined {
  if (!("tunnels" in kind.status.shape)) return undefined;
  const { tunnels } = (remote ?? {}) as { tunnels?: { id: string }[] | null };
  return tunnels?.map(({ id }) => id).sort();
}

/** A key that is different for each item. */
export function itemKey(item: Item): string {
  switch (item.type) {
    case "node":
      return keyOf(item.node);
    case "module":
      return `${keyOf(item.of)} ${item.module.name}`;
    case "part":
      return `${item.kind}/${item.id}`;
    case "session":
      return `TunnelSession/${item.session.id}`;
    case "credential":
      return `Credential/${item.group.credential}`;
    case "rest":
      return `${item.of}: ${item.text}`;
  }
}
